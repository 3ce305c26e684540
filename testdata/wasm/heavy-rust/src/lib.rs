//! A provider whose read renders 1 MiB of Markdown: heavy://markdown is the length of the HTML.

use pulldown_cmark::{html, Options, Parser};
use wasmres::{Provider, Route};

fn provider() -> Provider {
    let source = document(1 << 20);
    Provider::new("heavy", "1.0.0").route(Route::resource("heavy://markdown", move |_| {
        let mut page = String::with_capacity(2 * source.len());
        html::push_html(&mut page, Parser::new_ext(&source, Options::all()));
        Ok(page.len().to_string())
    }))
}

wasmres::export!(provider);

/// A text of about that many bytes with most kinds of blocks and spans.
fn document(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 1024);
    let mut n = 0;
    while text.len() < bytes {
        n += 1;
        text += &format!(
            "## Section {n}\n\nSome *emphasis*, **strong words**, `code {n}` and a [link](https://example.com/{n} \"title\"). \
             A long line goes on & on <b>with</b> a bit of HTML, an &amp; and a ~~mistake~~.\n\n\
             - item {n}\n- [x] done\n  - nested with _more_ text\n\n1. first\n2. second\n\n\
             > A quotation of {n} words\n> on two lines.\n\n```rust\nfn f{n}() -> u32 {{ {n} }}\n```\n\n\
             | left | right |\n|:-----|------:|\n| {n} | `cell` |\n| b | **c** |\n\n---\n\n"
        );
    }
    text
}

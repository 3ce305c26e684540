//! A small stand-in for the host's matching of URIs.

use std::cmp::Reverse;

type Vars = Vec<(String, String)>;

/// Finds the template that fits a URI best: most literal characters, then fewest `{+…}`, then fewest variables, then
/// the first. It gives its index and the decoded variables.
pub(super) fn find<'a>(templates: impl Iterator<Item = &'a str>, uri: &str) -> Option<(usize, Vars)> {
    let fits = templates.enumerate().filter_map(|(index, template)| {
        let parts = parse(template);
        let mut vars = Vec::new();
        fit(&parts, uri, &mut vars).then_some((index, specificity(&parts), vars))
    });
    let best = fits.max_by_key(|&(index, specificity, _)| (specificity, Reverse(index)))?;
    Some((best.0, best.2))
}

/// A part of a template.
enum Part<'a> {
    Literal(&'a str),
    Var(Var<'a>),
}

/// One variable in an expression.
struct Var<'a> {
    name: &'a str,
    operator: char, // one of + # . / ; ? & or a space for none
    explode: bool,
    first: bool, // of its expression
}

fn parse(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}').unwrap_or((after, ""));
        parts.push(Part::Literal(literal));
        let operator = expression.chars().next().filter(|&c| "+#./;?&".contains(c));
        let names = expression[operator.map_or(0, char::len_utf8)..].split(',').enumerate();
        parts.extend(names.map(|(i, name)| {
            Part::Var(Var {
                name: name.trim_end_matches('*').split(':').next().unwrap_or(""),
                operator: operator.unwrap_or(' '),
                explode: name.ends_with('*'),
                first: i == 0,
            })
        }));
        rest = after;
    }
    parts.push(Part::Literal(rest));
    parts
}

/// Orders templates: the greater one is more specific.
fn specificity(parts: &[Part<'_>]) -> (usize, Reverse<usize>, Reverse<usize>) {
    let (mut literals, mut reserved, mut vars) = (0, 0, 0);
    for part in parts {
        match part {
            Part::Literal(text) => literals += text.len(),
            Part::Var(var) => {
                vars += 1;
                reserved += usize::from(var.operator == '+');
            }
        }
    }
    (literals, Reverse(reserved), Reverse(vars))
}

/// Fits the parts to the whole of a URI, trying the longest values first.
fn fit(parts: &[Part<'_>], uri: &str, vars: &mut Vars) -> bool {
    match parts.split_first() {
        None => uri.is_empty(),
        Some((Part::Literal(text), parts)) => uri.strip_prefix(text).map_or(false, |uri| fit(parts, uri, vars)),
        Some((Part::Var(var), parts)) => fit_var(var, parts, uri, vars) || var.is_optional() && fit(parts, uri, vars),
    }
}

fn fit_var(var: &Var<'_>, parts: &[Part<'_>], uri: &str, vars: &mut Vars) -> bool {
    let uri = match uri.strip_prefix(var.lead()) {
        Some(uri) => uri,
        None => return false,
    };
    let longest = uri.find(|c| !var.may_hold(c)).unwrap_or(uri.len());
    let known = vars.len();
    for end in (var.least()..=longest).rev().filter(|&end| uri.is_char_boundary(end)) {
        if let Some(values) = var.values(&uri[..end]) {
            vars.extend(values.into_iter().map(|value| (var.name.to_owned(), value)));
            if fit(parts, &uri[end..], vars) {
                return true;
            }
            vars.truncate(known);
        }
    }
    false
}

impl Var<'_> {
    /// Gives what stands before the value: the operator, or what is between two variables.
    fn lead(&self) -> &'static str {
        match (self.operator, self.first) {
            ('#', true) => "#",
            ('?', true) => "?",
            ('.', _) => ".",
            ('/', _) => "/",
            (';', _) => ";",
            ('?' | '&', _) => "&",
            (_, true) => "",
            (_, false) => ",",
        }
    }

    fn separator(&self) -> char {
        match self.operator {
            '.' | '/' | ';' | '&' => self.operator,
            '?' => '&',
            _ => ',',
        }
    }

    fn is_named(&self) -> bool {
        matches!(self.operator, ';' | '?' | '&')
    }

    fn is_optional(&self) -> bool {
        !matches!(self.operator, ' ' | '+')
    }

    fn least(&self) -> usize {
        usize::from(!self.is_optional())
    }

    fn may_hold(&self, c: char) -> bool {
        if self.explode && c == self.separator() || self.is_named() && c == '=' {
            return true;
        }
        match self.operator {
            '+' | '#' => true,
            '?' | '&' => !matches!(c, '#' | '&'),
            operator => c.is_ascii_alphanumeric() || !c.is_ascii() || "_~%-".contains(c) || c == '.' && operator != '.',
        }
    }

    /// Decodes what a variable was expanded to; none when it cannot have been this.
    fn values(&self, text: &str) -> Option<Vec<String>> {
        let one = |text: &str| {
            let value = match text.strip_prefix(self.name) {
                _ if !self.is_named() => text,
                Some("") => "",
                Some(value) => value.strip_prefix('=')?,
                None => return None,
            };
            decode(value)
        };
        if !self.explode {
            return Some(vec![one(text)?]);
        }
        text.split(self.separator()).map(one).collect()
    }
}

/// Decodes percent-encoded text.
fn decode(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_match() {
        let none = None;
        for (templates, uri, want) in [
            (&["a://{x}"][..], "a://1", Some((0, "x=1"))),
            (&["a://{x}"], "a://1/2", none),
            (&["a://{x}"], "a://", none),
            (&["a://{x}"], "a://%2F%20%C3%BC", Some((0, "x=/ ü"))),
            (&["a://{x}"], "a://%zz", none),
            (&["a://{x}"], "a://%ff", none),
            (&["a.b://{x}"], "a+b://1", none),
            (&["a://{+path}"], "a://1/2?3#4", Some((0, "path=1/2?3#4"))),
            (&["a://{x}/{y}"], "a://1/2", Some((0, "x=1 y=2"))),
            (&["a://{x,y}"], "a://1,2", Some((0, "x=1 y=2"))),
            (&["a://{x}.{y}"], "a://1.2.3", Some((0, "x=1.2 y=3"))),
            (&["a://b{/x,y}"], "a://b/1/2", Some((0, "x=1 y=2"))),
            (&["a://b{/x,y}"], "a://b/1", Some((0, "x=1"))),
            (&["a://b{/path*}"], "a://b/1/2/3", Some((0, "path=1 path=2 path=3"))),
            (&["a://b{/path*}"], "a://b///", Some((0, "path= path= path="))),
            (&["a://b{/path*}"], "a://b", Some((0, ""))),
            (&["a://b{.ext}"], "a://b.md", Some((0, "ext=md"))),
            (&["a://b{#part}"], "a://b#p/q", Some((0, "part=p/q"))),
            (&["a://b{;x,y}"], "a://b;x=1;y", Some((0, "x=1 y="))),
            (&["a://b{?x,y}"], "a://b?x=1&y=2", Some((0, "x=1 y=2"))),
            (&["a://b{?x,y}"], "a://b", Some((0, ""))),
            (&["a://b?k=1{&x}"], "a://b?k=1&x=2", Some((0, "x=2"))),
            (&["a://b{?tag*}"], "a://b?tag=1&tag=2", Some((0, "tag=1 tag=2"))),
            (&["a://{x}", "a://b/{x}", "a://{x}/{y}"], "a://b/1", Some((1, "x=1"))),
            (&["a://{+x}", "a://{+x}/{y}", "a://{y}"], "a://1", Some((2, "y=1"))),
        ] {
            let got = find(templates.iter().copied(), uri).map(|(index, vars)| {
                let vars: Vec<_> = vars.iter().map(|(name, value)| [name, "=", value].concat()).collect();
                (index, vars.join(" "))
            });
            assert_eq!(got, want.map(|(index, vars)| (index, vars.to_owned())), "{:?} with {}", templates, uri);
        }
    }
}

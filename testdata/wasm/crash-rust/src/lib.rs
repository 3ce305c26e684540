//! A provider that crashes as its URI says, after it has used what a host grants, the time and random numbers.

use wasmres::{kv, Provider, Request, Result, Route};

fn provider() -> Provider {
    Provider::new("crash", "1.0.0").route(Route::template("crash://{kind}/{n}", crash))
}

wasmres::export!(provider);

fn crash(r: &Request) -> Result<String> {
    let n: u64 = r.parse("n")?;
    kv::put("seed", r.var("n"))?;
    let value = kv::get("seed")?.unwrap_or_default();
    let plain = r.config("plain").unwrap_or_default();
    let w = work(n + value.len() as u64 + plain.len() as u64, r.seed() % 5000 + r.time_left().as_nanos() as u64 % 100);
    match r.var("kind") {
        "panic" => panic!("no such note {w}"),
        "unwrap" => return Ok(none(w).unwrap()),
        "index" => return Ok(value[black_box(w as usize + value.len())].to_string()),
        "divide" => return Ok((w / black_box(0)).to_string()),
        "unreachable" => core::arch::wasm32::unreachable(),
        "stack" => return Ok(deeper(w).to_string()),
        "memory" => {
            let mut kept = Vec::new();
            loop {
                kept.push(vec![1u8; 1 << 20 | w as usize]);
                black_box(kept.len());
            }
        }
        "calls" => loop {
            black_box(kv::get("seed")?);
        },
        _ => {}
    }
    let mut i = w;
    loop {
        i = black_box(work(i, 1000));
    }
}

/// Keeps the compiler from knowing a value.
fn black_box<T>(value: T) -> T {
    let hidden = std::mem::ManuallyDrop::new(value);
    unsafe { std::ptr::read_volatile(&*hidden) }
}

fn none(w: u64) -> Option<String> {
    black_box(if w == u64::MAX { Some(String::new()) } else { None })
}

/// Takes time that differs with what it is given.
fn work(mut n: u64, times: u64) -> u64 {
    for i in 0..times {
        n = black_box((n * 31 + i) % 100_003);
    }
    n
}

#[allow(unconditional_recursion)]
#[inline(never)]
fn deeper(n: u64) -> u64 {
    let room = black_box([n; 16]);
    deeper(n + 1) + room[(n % 16) as usize]
}

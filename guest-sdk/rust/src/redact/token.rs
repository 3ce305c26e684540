//! Tokens of services, and hashes of passwords.

use super::ascii::{class, find, is};
use super::{Scanner, WINDOW};

/// The shortest token.
const MIN_TOKEN: usize = 15;

/// What tokens of a service begin with, and how many characters follow at least.
#[rustfmt::skip] // it writes one a line
const FORMS: [(&str, usize); 88] = [
    ("AKIA", 16), ("ASIA", 16), ("ABIA", 16), ("ACCA", 16), ("AIza", 35), ("ya29.", 20), ("GOCSPX-", 20), ("1//0", 30),
    ("ghp_", 20), ("gho_", 20), ("ghu_", 20), ("ghs_", 20), ("ghr_", 20), ("github_pat_", 20), ("glpat-", 16),
    ("gldt-", 16), ("glrt-", 16), ("glptt-", 16), ("glcbt-", 16), ("glsa_", 20), ("xoxb-", 10), ("xoxp-", 10),
    ("xoxa-", 10), ("xoxr-", 10), ("xoxs-", 10), ("xoxe.", 10), ("xoxe-", 10), ("xapp-", 10), ("sk_live_", 10),
    ("sk_test_", 10), ("rk_live_", 10), ("rk_test_", 10), ("whsec_", 16), ("sk-ant-", 16), ("sk-proj-", 16),
    ("sk-", 20), ("hf_", 20), ("r8_", 30), ("gsk_", 30), ("npm_", 30), ("pypi-AgE", 20), ("rubygems_", 30),
    ("dckr_pat_", 16), ("oy2", 40), ("SG.", 30), ("xkeysib-", 30), ("key-", 32), ("dop_v1_", 30), ("doo_v1_", 30),
    ("dor_v1_", 30), ("shpat_", 20), ("shpss_", 20), ("shpca_", 20), ("shppa_", 20), ("sq0atp-", 16), ("sq0csp-", 16),
    ("hvs.", 20), ("hvb.", 20), ("hvp.", 20), ("dapi", 32), ("lin_api_", 20), ("PMAK-", 20), ("NRAK-", 20),
    ("ATATT3", 20), ("ATCTT3", 20), ("sbp_", 20), ("pul-", 30), ("tskey-", 16), ("CFPAT-", 20), ("figd_", 20),
    ("ntn_", 20), ("AGE-SECRET-KEY-1", 20), ("SK", 32), ("EAACEdEose0cBA", 10), ("eyJ", 20), ("$2a$", 20), ("$2b$", 20),
    ("$2y$", 20), ("$1$", 16), ("$5$", 16), ("$6$", 16), ("$y$", 16), ("$apr1$", 16), ("$argon2", 20), ("$scrypt$", 20),
    ("pbkdf2_sha256$", 20), ("{SSHA}", 16), ("{SHA}", 16),
];

/// Says of each byte whether a token begins with it.
const FIRST: [bool; 256] = {
    let mut first = [false; 256];
    let mut i = 0;
    while i < FORMS.len() {
        first[FORMS[i].0.as_bytes()[0] as usize] = true;
        i += 1;
    }
    first
};

impl Scanner<'_> {
    /// Hides words that begin as the tokens of a service do, and are as long.
    pub fn tokens(&mut self) {
        let mut at = 0;
        while at < self.text.len() {
            if !is(self.text[at], class::TOKEN) {
                at += 1;
                continue;
            }
            let to = at + self.rest(at).iter().take_while(|&&byte| is(byte, class::TOKEN)).count();
            if to - at >= MIN_TOKEN {
                self.word(at, to);
            }
            at = to;
        }
    }

    /// Hides the part of a word from which on it is a token. A token begins where the word does, or after a character that
    /// no token begins with.
    fn word(&mut self, from: usize, to: usize) {
        for at in from..to {
            if at > from && self.text[at - 1].is_ascii_alphanumeric() {
                continue;
            }
            if is_service_token(&self.text[at..to.min(at + WINDOW)]) {
                self.hide(at, to);
                return;
            }
        }
    }
}

/// Reports whether a word is the token of a service, or the hash of a password.
fn is_service_token(word: &[u8]) -> bool {
    if word.len() < MIN_TOKEN {
        return false;
    }
    let has_form = |&&(prefix, rest): &&(&str, usize)| {
        word[0] == prefix.as_bytes()[0] && word.starts_with(prefix.as_bytes()) && word.len() >= prefix.len() + rest
    };
    let form = if FIRST[usize::from(word[0])] { FORMS.iter().find(has_form) } else { None };
    let (prefix, size) = match form {
        None => return is_bot_token(word),
        Some(&form) => form,
    };
    let rest = &word[prefix.len()..];
    match prefix {
        "eyJ" => rest.iter().filter(|&&c| c == b'.').count() >= 2, // a JSON Web Token has three parts
        "AKIA" | "ASIA" | "ABIA" | "ACCA" => rest[..size].iter().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()),
        "SK" | "dapi" | "key-" => rest[..size].iter().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')),
        "sk-" | "oy2" => rest.iter().any(u8::is_ascii_digit) && !rest.contains(&b'/'),
        _ => true,
    }
}

/// Reports whether a word is a token of Telegram: a number, a colon and 35 characters.
fn is_bot_token(word: &[u8]) -> bool {
    let number = word.iter().take_while(|c| c.is_ascii_digit()).count();
    (8..=10).contains(&number) && find(&word[number..], ":AA") == Some(0) && word.len() > number + 35
}

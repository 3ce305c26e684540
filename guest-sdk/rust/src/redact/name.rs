//! Names of settings whose values are secrets.

use super::ascii::{class, ends_with, is, lists};

/// Parts of names whose values are secrets, written in any way: `DB_PASSWORD`, `apiKey`, `client-secret`.
const STRONG: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "secret",
    "credential",
    "pwd",
    "apikey",
    "accesskey",
    "accountkey",
    "authkey",
    "authorization",
    "encryptionkey",
    "masterkey",
    "privatekey",
    "sharedkey",
    "signingkey",
    "sessionid",
    "webhookurl",
];

/// Whole words of such names.
const WEAK: &[&str] = &[
    "authtoken",
    "cookie",
    "cookies",
    "cred",
    "creds",
    "jwt",
    "key",
    "keys",
    "otp",
    "pass",
    "pin",
    "pw",
    "salt",
    "sid",
    "sig",
    "signature",
    "token",
    "tokens",
];

/// Words beside key that make it an ordinary name.
const PUBLIC: &[&str] = &["public", "primary", "foreign", "sort", "partition", "keyboard"];

/// Words beside auth that make it an ordinary name.
const ABOUT_AUTH: &[&str] = &[
    "enabled",
    "host",
    "mechanism",
    "method",
    "methods",
    "mode",
    "port",
    "provider",
    "realm",
    "scheme",
    "server",
    "type",
    "user",
    "username",
];

/// Values of auth that are methods, and no secrets.
const METHODS: &[&str] = &[
    "aws",
    "basic",
    "bearer",
    "cert",
    "digest",
    "false",
    "kerberos",
    "ldap",
    "login",
    "md5",
    "mtls",
    "none",
    "ntlm",
    "oauth",
    "oauth2",
    "off",
    "oidc",
    "on",
    "pam",
    "password",
    "peer",
    "plain",
    "saml",
    "scram-sha-256",
    "tls",
    "token",
    "true",
    "trust",
    "x509",
];

/// Words of names whose values are numbers, times and switches.
const MEASURES: &[&str] = &[
    "age", "allow", "count", "days", "disable", "enable", "enabled", "expires", "expiry", "interval", "length",
    "lifetime", "limit", "max", "min", "policy", "required", "retries", "rotate", "rotation", "seconds", "size",
    "timeout", "ttl",
];

/// Words of names whose values are names of files and addresses.
const PLACES: &[&str] = &["dir", "directory", "endpoint", "file", "folder", "path", "uri", "url"];

const SWITCHES: &[&str] = &["true", "false", "yes", "no", "on", "off", "none", "never"];

/// Reports whether a setting is a secret by its name. A value that cannot be one, as the length of a password, the path of
/// its file and a reference to a variable, is none.
pub fn is_secret(name: &str, value: &str) -> bool {
    is_secret_pair(name.as_bytes(), value.as_bytes())
}

pub fn is_secret_pair(name: &[u8], value: &[u8]) -> bool {
    if value.is_empty() || is_reference(value) || !is_secret_name(name) {
        return false;
    }
    if has_word(name, MEASURES) && is_figure(value) || has_word(name, PLACES) && value.contains(&b'/') {
        return false;
    }
    let compact = compact(name);
    if (compact == b"pwd" || compact == b"oldpwd") && value[0] == b'/' {
        return false;
    }
    !is_only_auth(name, &compact) || !has_word(name, ABOUT_AUTH) && !lists(METHODS, value)
}

pub fn is_secret_name(name: &[u8]) -> bool {
    if !name.iter().any(u8::is_ascii_alphabetic) {
        return false;
    }
    let compact = compact(name);
    if contains(&compact, STRONG) || ends_with(&compact, "token") {
        return true;
    }
    if ends_with(&compact, "pass") && !ends_with(&compact, "bypass") && !ends_with(&compact, "compass") {
        return true;
    }
    (has_word(name, WEAK) || has_word(name, &["auth"])) && !(has_word(name, &["key", "keys"]) && has_word(name, PUBLIC))
}

/// Reports whether a name says nothing but auth, whose value may be the name of a method.
fn is_only_auth(name: &[u8], compact: &[u8]) -> bool {
    has_word(name, &["auth"]) && !has_word(name, WEAK) && !contains(compact, &["secret", "authorization", "passw"])
}

/// Reports whether a value is only a reference to a variable, as `$NAME` and `${NAME}`.
fn is_reference(value: &[u8]) -> bool {
    let name = match value {
        [b'$', b'{', name @ .., b'}'] | [b'$', name @ ..] => name,
        _ => return false,
    };
    !name.is_empty() && name.iter().all(|&c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
}

/// Reports whether a value is a number, a duration or a switch.
fn is_figure(value: &[u8]) -> bool {
    lists(SWITCHES, value)
        || value.len() <= 8 && value[0].is_ascii_digit() && value.iter().all(u8::is_ascii_alphanumeric)
}

/// Gives the letters and digits of a name, in lower case.
fn compact(name: &[u8]) -> Vec<u8> {
    name.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect()
}

/// Reports whether a text has one of some parts, which begin with a byte of the class [`class::STRONG`].
fn contains(text: &[u8], parts: &[&str]) -> bool {
    let begins = |at: usize, part: &str| text[at] == part.as_bytes()[0] && text[at..].starts_with(part.as_bytes());
    (0..text.len()).any(|at| is(text[at], class::STRONG) && parts.iter().any(|part| begins(at, part)))
}

/// Reports whether one of the words of a name is in a list. Words are separated by other characters than letters and digits,
/// and by capital letters as in `apiKey` and `APIKey`.
fn has_word(name: &[u8], list: &[&str]) -> bool {
    let mut from = 0;
    while from < name.len() {
        let mut to = from;
        while to < name.len() && name[to].is_ascii_alphanumeric() && !(to > from && starts_word(name, to)) {
            to += 1;
        }
        if to > from && lists(list, &name[from..to]) {
            return true;
        }
        from = to.max(from + 1);
    }
    false
}

fn starts_word(name: &[u8], at: usize) -> bool {
    name[at].is_ascii_uppercase()
        && (!name[at - 1].is_ascii_uppercase() || name.get(at + 1).map_or(false, u8::is_ascii_lowercase))
}

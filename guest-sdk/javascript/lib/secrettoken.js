// The tokens of services, by what they begin with: see redact.ts.

// What tokens of a service begin with, and how many characters follow at least.
const FORMS = [
  "AKIA 16", "ASIA 16", "ABIA 16", "ACCA 16", "AIza 35", "ya29. 20", "GOCSPX- 20", "1//0 30", "ghp_ 20", "gho_ 20",
  "ghu_ 20", "ghs_ 20", "ghr_ 20", "github_pat_ 20", "glpat- 16", "gldt- 16", "glrt- 16", "glptt- 16", "glcbt- 16",
  "glsa_ 20", "xoxb- 10", "xoxp- 10", "xoxa- 10", "xoxr- 10", "xoxs- 10", "xoxe. 10", "xoxe- 10", "xapp- 10",
  "sk_live_ 10", "sk_test_ 10", "rk_live_ 10", "rk_test_ 10", "whsec_ 16", "sk-ant- 16", "sk-proj- 16", "sk- 20",
  "hf_ 20", "r8_ 30", "gsk_ 30", "npm_ 30", "pypi-AgE 20", "rubygems_ 30", "dckr_pat_ 16", "oy2 40", "SG. 30",
  "xkeysib- 30", "key- 32", "dop_v1_ 30", "doo_v1_ 30", "dor_v1_ 30", "shpat_ 20", "shpss_ 20", "shpca_ 20",
  "shppa_ 20", "sq0atp- 16", "sq0csp- 16", "hvs. 20", "hvb. 20", "hvp. 20", "dapi 32", "lin_api_ 20", "PMAK- 20",
  "NRAK- 20", "ATATT3 20", "ATCTT3 20", "sbp_ 20", "pul- 30", "tskey- 16", "CFPAT- 20", "figd_ 20", "ntn_ 20",
  "AGE-SECRET-KEY-1 20", "SK 32", "EAACEdEose0cBA 10", "eyJ 20", "$2a$ 20", "$2b$ 20", "$2y$ 20", "$1$ 16", "$5$ 16",
  "$6$ 16", "$y$ 16", "$apr1$ 16", "$argon2 20", "$scrypt$ 20", "pbkdf2_sha256$ 20", "{SSHA} 16", "{SHA} 16",
];

// FORMS in two arrays.
const PREFIXES = FORMS.map((form) => form.substring(0, form.lastIndexOf(" ")));
const RESTS = FORMS.map((form) => Number(form.substring(form.lastIndexOf(" ") + 1)));

const DIGITS = "0123456789";

/** Whether a word is the token of a service, or the hash of a password. */
export function isServiceToken(word) {
  for (let i = 0; i < PREFIXES.length; i++) {
    const prefix = PREFIXES[i];
    if (!word.startsWith(prefix) || word.length - prefix.length < RESTS[i]) continue;
    const rest = word.substring(prefix.length);
    if (prefix === "eyJ") return rest.split(".").length > 2; // a JSON Web Token has three parts
    if (prefix === "AKIA" || prefix === "ASIA" || prefix === "ABIA" || prefix === "ACCA") {
      return isMadeOf(rest.substring(0, RESTS[i]), "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + DIGITS);
    }
    if (prefix === "SK" || prefix === "dapi" || prefix === "key-") {
      return isMadeOf(rest.substring(0, RESTS[i]), DIGITS + "abcdef");
    }
    if (prefix === "sk-" || prefix === "oy2") return !isFreeOf(rest, DIGITS) && !rest.includes("/");
    return true;
  }
  return isBotToken(word);
}

/** Whether a word is a token of Telegram: a number, a colon and 35 characters. */
function isBotToken(word) {
  const colon = word.indexOf(":");
  if (colon < 8 || colon > 10 || !isMadeOf(word.substring(0, colon), DIGITS)) return false;
  return word.length - colon - 1 >= 35 && word.substring(colon + 1, colon + 3) === "AA";
}

/** Gives where a run of characters ends that may stand in a token. */
export function tokenEnd(text, at) {
  while (at < text.length) {
    const c = text.charCodeAt(at);
    const isAlnum = c >= 48 && c <= 57 || (c | 32) >= 97 && (c | 32) <= 122;
    if (!isAlnum && !"_-.+/=$:{}~".includes(text.charAt(at))) break;
    at++;
  }
  return at;
}

/** Whether a word is user:password in base64. */
export function isBasic(word) {
  let bits = 0;
  let count = 0; // of bits that are none of a byte yet
  let bytes = 0;
  let colon = false;
  for (let i = 0; i < word.length; i++) {
    if (word.charAt(i) === "=") continue;
    const value = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".indexOf(word.charAt(i));
    if (value < 0) return false;
    bits = bits << 6 | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes++;
    colon = colon || (bits >> count & 0xff) === 58;
  }
  return colon && bytes > 2;
}

function isMadeOf(text, characters) {
  for (let i = 0; i < text.length; i++) if (!characters.includes(text.charAt(i))) return false;
  return true;
}

function isFreeOf(text, characters) {
  for (let i = 0; i < text.length; i++) if (characters.includes(text.charAt(i))) return false;
  return true;
}

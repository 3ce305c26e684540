// The names of settings that are secrets: see redact.ts.

const STRONG = [ // in names that are written in any way: DB_PASSWORD, apiKey, client-secret
  "password", "passwd", "passphrase", "passcode", "passwort", "secret", "credential", "pwd", "apikey", "accesskey",
  "accountkey", "authkey", "authorization", "encryptionkey", "masterkey", "privatekey", "sharedkey", "signingkey",
  "sessionid", "webhookurl",
];

// Whole words of such names.
const WEAK = " authtoken cookie cookies cred creds jwt key keys otp pass pin pw salt sid sig signature token tokens ";
const AUTH = " auth ";
const KEY = " key keys ";

// Words beside key, and beside auth, that make it an ordinary name; and values of auth that are no secrets.
const PUBLIC = " public primary foreign sort partition keyboard ";
const ABOUT_AUTH = " enabled host mechanism method methods mode port provider realm scheme server type user username ";
const METHODS = " aws basic bearer cert digest false kerberos ldap login md5 mtls none ntlm oauth oauth2 off oidc on " +
  "pam password peer plain saml scram-sha-256 tls token true trust x509 ";

// Words of names whose values are numbers, times and switches; and names of files and addresses.
const MEASURES = " age allow count days disable enable enabled expires expiry interval length lifetime limit max min " +
  "policy required retries rotate rotation seconds size timeout ttl ";
const PLACES = " dir directory endpoint file folder path uri url ";

const SWITCHES = " true false yes no on off none never ";

/** Whether a name is that of a secret. */
export function isSecretName(name) {
  const compact = compactOf(name);
  if (isStrong(compact) || compact.endsWith("token")) return true;
  if (compact.endsWith("pass") && !compact.endsWith("bypass") && !compact.endsWith("compass")) return true;
  return (hasWord(name, WEAK) || hasWord(name, AUTH)) && !(hasWord(name, KEY) && hasWord(name, PUBLIC));
}

/** Whether the value of a secret name can be a secret. */
export function isSecretValue(name, value) {
  if (isReference(value)) return false;
  if (hasWord(name, MEASURES) && isFigure(value) || hasWord(name, PLACES) && value.includes("/")) return false;
  const compact = compactOf(name);
  if ((compact === "pwd" || compact === "oldpwd") && value.startsWith("/")) return false;
  if (!hasWord(name, AUTH) || hasWord(name, WEAK) || isStrong(compact)) return true;
  return !hasWord(name, ABOUT_AUTH) && !METHODS.includes(" " + value.toLowerCase() + " ");
}

function isStrong(compact) {
  for (let i = 0; i < STRONG.length; i++) if (compact.includes(STRONG[i])) return true;
  return false;
}

/** Whether a value is only a reference to a variable, as $NAME and ${NAME}. */
function isReference(value) {
  if (!value.startsWith("$")) return false;
  const isBraced = value.startsWith("${") && value.endsWith("}");
  const name = isBraced ? value.substring(2, value.length - 1) : value.substring(1);
  for (let i = 0; i < name.length; i++) {
    const c = name.charCodeAt(i);
    if (!isUpper(c) && !isDigit(c) && c !== 95) return false;
  }
  return name.length > 0;
}

/** Whether a value is a number, a duration or a switch. */
function isFigure(value) {
  if (SWITCHES.includes(" " + value.toLowerCase() + " ")) return true;
  for (let i = 0; i < value.length; i++) if (!isAlnum(value.charCodeAt(i))) return false;
  return value.length <= 8 && isDigit(value.charCodeAt(0));
}

/** Gives the letters and digits of a name, in lower case. */
function compactOf(name) {
  let compact = "";
  for (let i = 0; i < name.length; i++) if (isAlnum(name.charCodeAt(i))) compact += name.charAt(i);
  return compact.toLowerCase();
}

/**
 * Whether one of the words of a name is in a list that begins and ends with a space. Words are separated by other
 * characters than letters and digits, and by capital letters as in apiKey and APIKey.
 */
function hasWord(name, list) {
  for (let from = 0; from < name.length;) {
    let to = from;
    while (to < name.length && isAlnum(name.charCodeAt(to)) && !(to > from && startsWord(name, to))) to++;
    if (to > from && list.includes(" " + name.substring(from, to).toLowerCase() + " ")) return true;
    from = Math.max(to, from + 1);
  }
  return false;
}

function startsWord(name, at) {
  if (!isUpper(name.charCodeAt(at))) return false;
  const next = at + 1 < name.length ? name.charCodeAt(at + 1) : 0;
  return !isUpper(name.charCodeAt(at - 1)) || next >= 97 && next <= 122;
}

function isUpper(c) { return c >= 65 && c <= 90; }
function isDigit(c) { return c >= 48 && c <= 57; }
function isAlnum(c) { return isDigit(c) || (c | 32) >= 97 && (c | 32) <= 122; }

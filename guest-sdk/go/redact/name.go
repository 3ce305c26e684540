package redact

import "strings"

// strong are parts of names whose values are secrets, written in any way: DB_PASSWORD, apiKey, client-secret.
var strong = []string{
	"password", "passwd", "passphrase", "passcode", "passwort", "secret", "credential", "pwd", "apikey", "accesskey",
	"accountkey", "authkey", "authorization", "encryptionkey", "masterkey", "privatekey", "sharedkey", "signingkey",
	"sessionid", "webhookurl",
}

// weak are whole words of such names.
const weak = " auth authtoken cookie cookies cred creds jwt key keys otp pass pin pw salt sid sig signature token tokens "

// public are words beside key that make it an ordinary name.
const public = " public primary foreign sort partition keyboard "

// aboutAuth are words beside auth that make it an ordinary name, and methods are values of it that are no secrets.
const (
	aboutAuth = " enabled host mechanism method methods mode port provider realm scheme server type user username "
	methods   = " aws basic bearer cert digest false kerberos ldap login md5 mtls none ntlm oauth oauth2 off oidc on pam " +
		"password peer plain saml scram-sha-256 tls token true trust x509 "
)

// measures are words of names whose values are numbers, times and switches.
const measures = " age allow count days disable enable enabled expires expiry interval length lifetime limit max min " +
	"policy required retries rotate rotation seconds size timeout ttl "

// places are words of names whose values are names of files and addresses.
const places = " dir directory endpoint file folder path uri url "

// IsSecret reports whether a setting is a secret by its name. A value that cannot be one, as the length of a password, the
// path of its file and a reference to a variable, is none.
func IsSecret(name, value string) bool {
	if value == "" || isReference(value) || !isSecretName(name) {
		return false
	}
	compact := compactOf(name)
	switch {
	case hasWord(name, measures) && isFigure(value), hasWord(name, places) && strings.Contains(value, "/"):
		return false
	case (compact == "pwd" || compact == "oldpwd") && strings.HasPrefix(value, "/"):
		return false
	case isOnlyAuth(name):
		return !hasWord(name, aboutAuth) && !strings.Contains(methods, " "+lower(value)+" ")
	}
	return true
}

func isSecretName(name string) bool {
	compact := compactOf(name)
	for _, part := range strong {
		if strings.Contains(compact, part) {
			return true
		}
	}
	if strings.HasSuffix(compact, "token") || strings.HasSuffix(compact, "pass") && !strings.HasSuffix(compact, "bypass") &&
		!strings.HasSuffix(compact, "compass") {
		return true
	}
	return hasWord(name, weak) && !(hasWord(name, " key keys ") && hasWord(name, public))
}

// isOnlyAuth reports whether a name says nothing but auth, whose value may be the name of a method.
func isOnlyAuth(name string) bool {
	return hasWord(name, " auth ") && !hasWord(name, strings.Replace(weak, " auth ", " ", 1)) &&
		!strings.Contains(compactOf(name), "secret") && !strings.Contains(compactOf(name), "authorization") &&
		!strings.Contains(compactOf(name), "passw")
}

// isReference reports whether a value is only a reference to a variable, as $NAME and ${NAME}.
func isReference(value string) bool {
	name, ok := strings.CutPrefix(value, "$")
	if inner, braced := strings.CutPrefix(name, "{"); braced {
		name, ok = strings.CutSuffix(inner, "}")
	}
	return ok && name != "" && isMadeOf(name, func(c byte) bool { return isUpper(c) || isDigit(c) || c == '_' })
}

// isFigure reports whether a value is a number, a duration or a switch.
func isFigure(value string) bool {
	switch lower(value) {
	case "true", "false", "yes", "no", "on", "off", "none", "never":
		return true
	}
	return len(value) <= 8 && isDigit(value[0]) && isMadeOf(value, isAlnum)
}

// compactOf returns the letters and digits of a name, in lower case.
func compactOf(name string) string {
	b := make([]byte, 0, len(name))
	for i := range len(name) {
		if isAlnum(name[i]) {
			b = append(b, lowerOf(name[i]))
		}
	}
	return string(b)
}

// hasWord reports whether one of the words of a name is in a list that begins and ends with a space. Words are separated
// by other characters than letters and digits, and by capital letters as in apiKey and APIKey.
func hasWord(name, list string) bool {
	for from := 0; from < len(name); {
		to := from
		for to < len(name) && isAlnum(name[to]) && !(to > from && startsWord(name, to)) {
			to++
		}
		if to > from && strings.Contains(list, " "+lower(name[from:to])+" ") {
			return true
		}
		from = max(to, from+1)
	}
	return false
}

func startsWord(name string, at int) bool {
	return isUpper(name[at]) && (!isUpper(name[at-1]) || at+1 < len(name) && isLower(name[at+1]))
}

func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lowerOf(c)
	}
	return string(b)
}

func lowerOf(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isUpper(c) || isLower(c) || isDigit(c) }

func isMadeOf(s string, is func(byte) bool) bool {
	for i := range len(s) {
		if !is(s[i]) {
			return false
		}
	}
	return true
}

package redact

import "strings"

// A form is what tokens of a service begin with, and how many characters follow at least.
type form struct {
	prefix string
	rest   int
}

var forms = []form{
	{"AKIA", 16}, {"ASIA", 16}, {"ABIA", 16}, {"ACCA", 16}, // AWS
	{"AIza", 35}, {"ya29.", 20}, {"GOCSPX-", 20}, {"1//0", 30}, // Google
	{"ghp_", 20}, {"gho_", 20}, {"ghu_", 20}, {"ghs_", 20}, {"ghr_", 20}, {"github_pat_", 20},
	{"glpat-", 16}, {"gldt-", 16}, {"glrt-", 16}, {"glptt-", 16}, {"glcbt-", 16}, {"glsa_", 20},
	{"xoxb-", 10}, {"xoxp-", 10}, {"xoxa-", 10}, {"xoxr-", 10}, {"xoxs-", 10}, {"xoxe.", 10}, {"xoxe-", 10}, {"xapp-", 10},
	{"sk_live_", 10}, {"sk_test_", 10}, {"rk_live_", 10}, {"rk_test_", 10}, {"whsec_", 16}, // Stripe
	{"sk-ant-", 16}, {"sk-proj-", 16}, {"sk-", 20}, {"hf_", 20}, {"r8_", 30}, {"gsk_", 30},
	{"npm_", 30}, {"pypi-AgE", 20}, {"rubygems_", 30}, {"dckr_pat_", 16}, {"oy2", 40},
	{"SG.", 30}, {"xkeysib-", 30}, {"key-", 32}, {"dop_v1_", 30}, {"doo_v1_", 30}, {"dor_v1_", 30},
	{"shpat_", 20}, {"shpss_", 20}, {"shpca_", 20}, {"shppa_", 20}, {"sq0atp-", 16}, {"sq0csp-", 16},
	{"hvs.", 20}, {"hvb.", 20}, {"hvp.", 20}, {"dapi", 32}, {"lin_api_", 20}, {"PMAK-", 20}, {"NRAK-", 20},
	{"ATATT3", 20}, {"ATCTT3", 20}, {"sbp_", 20}, {"pul-", 30}, {"tskey-", 16}, {"CFPAT-", 20}, {"figd_", 20},
	{"ntn_", 20}, {"AGE-SECRET-KEY-1", 20}, {"SK", 32}, {"EAACEdEose0cBA", 10}, {"eyJ", 20},
	{"$2a$", 20}, {"$2b$", 20}, {"$2y$", 20}, {"$1$", 16}, {"$5$", 16}, {"$6$", 16}, {"$y$", 16}, {"$apr1$", 16},
	{"$argon2", 20}, {"$scrypt$", 20}, {"pbkdf2_sha256$", 20}, {"{SSHA}", 16}, {"{SHA}", 16},
}

// isServiceToken reports whether a word is the token of a service, or the hash of a password.
func isServiceToken(word string) bool {
	for _, f := range forms {
		rest, ok := strings.CutPrefix(word, f.prefix)
		if !ok || len(rest) < f.rest {
			continue
		}
		switch f.prefix {
		case "eyJ": // a JSON Web Token has three parts
			return strings.Count(rest, ".") >= 2
		case "AKIA", "ASIA", "ABIA", "ACCA":
			return isMadeOf(rest[:f.rest], func(c byte) bool { return isUpper(c) || isDigit(c) })
		case "SK", "dapi", "key-":
			return isMadeOf(rest[:f.rest], func(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' })
		case "sk-", "oy2":
			return strings.ContainsAny(rest, "0123456789") && !strings.Contains(rest, "/")
		}
		return true
	}
	return isBotToken(word)
}

// isBotToken reports whether a word is a token of Telegram: a number, a colon and 35 characters.
func isBotToken(word string) bool {
	number, rest, ok := strings.Cut(word, ":")
	return ok && len(number) >= 8 && len(number) <= 10 && isMadeOf(number, isDigit) && len(rest) >= 35 &&
		strings.HasPrefix(rest, "AA")
}

// isToken reports whether a character may stand in a token.
func isToken(c byte) bool { return isAlnum(c) || strings.IndexByte("_-.+/=$:{}~", c) >= 0 }

package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/registry/internal/bundle"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/seen"
)

// The errors of a [Verifier] are one of these, beside those of reading its state.
var (
	// ErrUntrusted says that the trust policy refuses a provider.
	ErrUntrusted = errors.New("refused by the trust policy")
	// ErrDowngrade says that a provider is older than one that was accepted before.
	ErrDowngrade = errors.New("older than what was accepted before")
)

// VerifierOptions are the options of a [Verifier].
type VerifierOptions struct {
	// State is a private folder of the user that remembers the newest providers; the first creates it. Empty: downgrades are
	// not noticed.
	State string
	// AllowDowngrade accepts a provider that is older than one that was accepted before.
	AllowDowngrade bool
}

// A Verifier decides by a trust policy, with no network. It may be used concurrently.
type Verifier struct {
	policy         *TrustPolicy
	seen           *seen.Store // nil: nothing is remembered
	allowDowngrade bool
}

// NewVerifier returns a verifier. A nil policy requires no signature of anything.
func NewVerifier(p *TrustPolicy, o VerifierOptions) *Verifier {
	if p == nil {
		p = allowAll("there is no trust policy")
	}
	v := &Verifier{policy: p, allowDowngrade: o.AllowDowngrade}
	if o.State != "" {
		v.seen = seen.Open(o.State)
	}
	return v
}

// Verified says why a provider was accepted.
type Verified struct {
	Digest Digest // of the manifest; empty for a file
	// Signed reports that the signatures hold that the policy requires. Without it, nothing is known of the provider's origin.
	Signed  bool
	Signers []KeyName // the keys of the policy that signed, in its order; none unless Signed
	Created time.Time // by the manifest; zero if that says nothing
	Reason  string    // what decided, as: rule "ghcr.io/ada/*" of /home/ada/.config/wasmres/trust.yaml
}

// A KeyName is a key of a trust policy: the name that the user gave it, and its [PublicKey.ID].
type KeyName struct{ Name, ID string }

// SignerNames returns the names of the signers, separated by commas; empty for none.
func (v Verified) SignerNames() string {
	names := make([]string, len(v.Signers))
	for i := range v.Signers {
		names[i] = v.Signers[i].Name
	}
	return strings.Join(names, ", ")
}

// String is a sentence for the user.
func (v Verified) String() string {
	if !v.Signed {
		return "no signature was verified: " + v.Reason
	}
	return "signed by " + v.SignerNames() + ": " + v.Reason
}

// NeedsSignatures reports whether the signatures of a provider decide: otherwise [Verifier.Verify] needs no bundles.
func (v *Verifier) NeedsSignatures(r Reference) bool {
	rule := v.policy.ruleFor(canonicalName(r))
	return rule != nil && rule.need > 0
}

// Verify decides about a provider by the bytes of its manifest and the bundles of its signatures, of which 64 are accepted.
// The error is [ErrUntrusted] or [ErrDowngrade] if it may not be used. r is what the user asked for: with a digest, which must
// be that of the manifest, the user has chosen these very bytes, and they may be older than others; a tag names whatever the
// registry says today.
func (v *Verifier) Verify(ctx context.Context, r Reference, manifest []byte, bundles [][]byte) (Verified, error) {
	result, err := v.verify(ctx, r, manifest, bundles)
	if err != nil {
		return Verified{}, fmt.Errorf("%s: %w", r, err)
	}
	return result, nil
}

// verify is [Verifier.Verify] with errors that do not name the reference.
func (v *Verifier) verify(ctx context.Context, r Reference, manifest []byte, bundles [][]byte) (Verified, error) {
	result, rule, err := v.decide(r, manifest, bundles)
	if err != nil || rule == nil {
		return result, err
	}
	if err := v.checkAge(ctx, r, rule, result); err != nil {
		return Verified{}, err
	}
	return result, nil
}

// decide returns the rule by whose keys the provider is signed; nil if it is accepted without signatures.
func (v *Verifier) decide(r Reference, manifest []byte, bundles [][]byte) (Verified, *rule, error) {
	digest := oci.DigestOf(manifest)
	if r.Digest != "" && r.Digest != digest {
		return Verified{}, nil, fmt.Errorf("the manifest has the digest %s: it was changed: fetch it again", digest)
	}
	m, err := oci.ParseManifest(manifest)
	if err != nil {
		return Verified{}, nil, err
	}
	name := canonicalName(r)
	rule := v.policy.ruleFor(name)
	result := Verified{Digest: digest, Created: createdAt(m), Reason: v.policy.reason(rule, name)}
	switch {
	case rule == nil && v.policy.byDefault == allow, rule != nil && rule.need == 0:
		return result, nil, nil
	case rule == nil:
		return Verified{}, nil, fmt.Errorf("%w: %s: add a rule for %s", ErrUntrusted, result.Reason, name)
	}
	result.Signers, err = rule.verify(bundles, digest)
	if err != nil {
		return Verified{}, nil, fmt.Errorf("%w: %s: %s: %w", ErrUntrusted, result.Reason, rule.requirement(), err)
	}
	result.Signed = true
	return result, rule, nil
}

// createdAt returns when a provider was made; zero if its manifest does not say it.
func createdAt(m oci.Manifest) time.Time {
	created, err := time.Parse(time.RFC3339, m.Annotations[oci.CreatedAnnotation])
	if err != nil {
		return time.Time{}
	}
	return created.UTC()
}

// reason names the part of the policy that decides.
func (p *TrustPolicy) reason(r *rule, name string) string {
	switch {
	case p.none, p.given:
		return p.source
	case r == nil:
		return fmt.Sprintf("no rule of %s matches, and its default is to %s", p.source, p.byDefault)
	}
	return fmt.Sprintf("rule %q of %s", r.matches(name), p.source)
}

// verify returns the keys of the rule that signed, if they are enough.
func (r *rule) verify(bundles [][]byte, manifest Digest) ([]KeyName, error) {
	if len(bundles) > oci.MaxReferrers {
		return nil, fmt.Errorf("it has %d signatures: at most %d are accepted: ask its publisher to remove some", len(bundles), oci.MaxReferrers)
	}
	keys := make([]*bundle.PublicKey, len(r.keys))
	for i := range r.keys {
		keys[i] = r.keys[i].key
	}
	signed := map[*bundle.PublicKey]bool{}
	var problems []string
	for _, b := range bundles {
		key, err := bundle.Verify(b, keys, manifest)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		signed[key] = true
	}
	if len(signed) < r.need {
		return nil, tooFew(len(bundles) == 0, len(signed), problems)
	}
	var names []KeyName
	for _, k := range r.keys {
		if signed[k.key] {
			names = append(names, KeyName{k.name, k.key.ID()})
		}
	}
	return names, nil
}

// tooFew says why not enough of the signatures count, with at most three different problems.
func tooFew(none bool, count int, problems []string) error {
	if none {
		return errors.New("it has no signature: ask its publisher to sign it with wasmres sign or cosign 3; " +
			"the signatures of older versions of cosign, in tags named sha256-….sig, are not read")
	}
	slices.Sort(problems)
	problems = slices.Compact(problems)
	text := fmt.Sprintf("%d of these keys signed it", count)
	for _, p := range problems[:min(3, len(problems))] {
		text += "; " + p
	}
	if more := len(problems) - 3; more > 0 {
		text += fmt.Sprintf("; and %d other problems", more)
	}
	return errors.New(text)
}

// checkAge refuses a provider that is older than the newest that was accepted by any key of the rule, and remembers a newer one.
// All keys of the rule count, as a registry may leave out the signatures of some.
func (v *Verifier) checkAge(ctx context.Context, r Reference, rule *rule, now Verified) error {
	if v.seen == nil {
		return nil
	}
	name := canonicalName(r)
	var all, signers []string
	for _, k := range rule.keys {
		all = append(all, k.key.ID())
	}
	for _, s := range now.Signers {
		signers = append(signers, s.ID)
	}
	newest, err := v.seen.Newest(name, all...)
	if err != nil {
		return err
	}
	if now.Created.Before(newest.Created) && r.Digest == "" && !v.allowDowngrade {
		return fmt.Errorf("%w: it was made %s, and %s, which was accepted before, %s: if you mean the older one, "+
			"name it by its digest %s, or allow downgrades", ErrDowngrade, describeTime(now.Created), newest.Digest, describeTime(newest.Created), now.Digest)
	}
	return v.seen.Add(ctx, name, seen.Version{Created: now.Created, Digest: now.Digest}, signers...)
}

func describeTime(t time.Time) string {
	if t.IsZero() {
		return "at a time that its manifest does not say"
	}
	return "at " + t.Format(time.RFC3339)
}

// VerifyFile decides about a module in a file, which has no signature. The error is [ErrUntrusted] if it may not be used.
func (v *Verifier) VerifyFile(file string) (Verified, error) {
	if v.policy.none {
		return Verified{Reason: v.policy.source}, nil
	}
	if v.policy.files == allow {
		return Verified{Reason: v.policy.source + " allows modules in files"}, nil
	}
	return Verified{}, fmt.Errorf("%s: %w: a module in a file has no signature: write files: allow into %s to run such modules",
		file, ErrUntrusted, v.policy.source)
}

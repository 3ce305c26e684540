package archtest

import (
	"regexp"
	"strings"
)

// retiredNames has, by package, the names that standard terms have replaced. The package may not declare them again,
// outside functions. Names that are standard for something else, as Leave or step, are not listed.
var retiredNames = byPackage(`
runtime/internal/provider runtime/internal/module runtime/internal/guest runtime/internal/instance runtime/internal/pool
runtime/internal/limiter runtime/internal/engine runtime/internal/engine/wazero runtime/internal/wasi
: Shelf Hollow IsHollow isOf offered errNoNames Answered Overdue Quote Said Spent maxSaid remember framed
: askedTooOften blame blamed contain contained investigate tooDeep tookTooLong
: admitHostCall keeper patient realWorld resting snap stopIfOver unforeseeable World beginTidying tidy tidying
: errCrowded errEnough seat seats sit waitOn crowded depart keepPace lingering lingers pace rise turns
: Determinism Lane LaneReset Learn linger Look Order silent turn Waited Waiter

runtime/wasm
: Hollow IsHollow

runtime/internal/snapshot runtime/internal/meter runtime/internal/admit
: Arm assembly beyond crowded finder giveAll knowledge Loosen master otherwise restoreKnown space spoil survey Trust undo

runtime/internal/process runtime/internal/confine
: attend brood bury buryStrays carryOut complain conjunction enroll fence fenceAll forkOrder half isEnrolled
: onStarter SetAside setAside startBold startHere strike tend volunteer wishes

runtime/internal/compiler
: adopt board conclude flight fly judge obtain recall  Forget

runtime/internal/worker
: beside carry crowd doubt greet lately mourn orders refill remade settle settled Spaces spare spares Walls

runtime/internal/worker/link
: bark barks board elsewhere errElsewhere glance hearing itsTurn linger lookout maxBarks newTrip
: relieve roomiest strays travel trip trips

runtime/internal/worker/child runtime/internal/worker/protocol runtime/internal/worker/supervise
: bury Deaths endsWhole heldHeap obey recycle relay Shut turnLocked unsendable

runtime/internal/provider runtime/internal/subscribe
: abandon blind courier disturb hub keepAsking looked looking overtake shortestRest spread
: flight hurry isLasting land lasting promise recorder unranged

runtime/internal/provider/cache
: flight land lead promise recorder results

runtime/capability/httpcap
: cleaner denial deny goesOn hop keeping lane leap live scrubber

runtime/capability/sqlcap
: desk furtherRows resting tell

runtime/capability/fscap
: growth IsScratch renamed

runtime/internal/reload runtime/internal/composite
: absent isContested isForeign meets plainHead seal succeedLocked sureOf

runtime/internal/mcp
: agreed askPage excerpt headed heed IsAbout isImpersonal listKept Outlet outcome Plain Settle single spill TooBusy
: unsaid Usual

runtime/internal/mcp/stdio
: admit alone crew endOf errStuck few flight gather hold kick look put remind settle some stall together widen

runtime/internal/mcp/streamable runtime/internal/mcp/streamable/response runtime/internal/mcp/streamable/download
runtime/internal/mcp/streamable/subscription runtime/internal/mcp/streamable/fastpath
: admits announce answerPatience attend bare consider dismiss door ender errCrowded errElsewhere errLeft framed glance
: handOn handOver hasLeft hurry isForeign measure peer repeats said stillHere stray unsuited weighedBody wish

runtime/internal/mcp/legacy
: abort admit beat breath cut heartbeat heeds idler later nudge patienceLocked putBack quiet retellLocked settle unsaid

internal/approval internal/policy internal/strict
: AskedFor asksOf doubts hang harmless insteadOf inWords orElse rooted Settle shelters shown thin undisturbed Wanted whyHeld

internal/session internal/project internal/check
: desk dialect digested here ifTrue inTurn isOdd lift noteUnsampled places said teller trait unlessZero

internal/app
: burn StandIn WarnUngranted

cmd/wasmres cmd/wasmres/internal/providers cmd/wasmres/internal/cli cmd/wasmres/internal/terminal
cmd/wasmres/internal/inspect cmd/wasmres/internal/bench cmd/wasmres/internal/build cmd/wasmres/internal/dev
cmd/wasmres/internal/view
: brokenBy coded describeBare developer granting heldLog hold hushed openApproved openAsking openView pacer paint permit
: place renew sheet showPicture tells unshown wish words worded

runtime/capability runtime/capability/captest runtime/capability/fscap runtime/capability/httpcap
runtime/capability/kvcap runtime/capability/sqlcap
: cleaner denial desk furtherRows goesOn growth hop IsScratch keeping leap Power renamed resting scrubber
`)

// byPackage reads paragraphs: the paths of packages, then, on lines that begin with a colon, their names.
func byPackage(text string) map[string][]string {
	names := map[string][]string{}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var packages, retired []string
		for line := range strings.SplitSeq(paragraph, "\n") {
			if list, ok := strings.CutPrefix(line, ":"); ok {
				retired = append(retired, strings.Fields(list)...)
			} else {
				packages = append(packages, strings.Fields(line)...)
			}
		}
		if len(packages) == 0 {
			panic("names without a package: " + paragraph)
		}
		for _, p := range packages {
			names[p] = append(names[p], retired...)
		}
	}
	return names
}

// retiredPhrase matches the phrases that standard terms have replaced, in any case and across lines. The comment beside
// each says what to write.
var retiredPhrase = phrases(
	`whoever`, `nobody`, `somebody`, // the caller, the client, the operator, another process, …
	`is for nobody`,              // is discarded
	`puts? back`, `putting back`, // reset, return
	`stands? aside`, `puts? aside`, // runs in the background
	`spare workers?`, `blank workers?`, // standby worker
	`made once more`,         // retried
	`hears? of`, `tells? of`, // receives, reports
	`told when to come back`,           // told when to retry
	`guests? as new`,                   // fresh instance
	`bearable shape`, `shape bearable`, // within the module limits
	`walls?`,                     // isolation layers
	`powers?`,                    // capability
	`hollow`, `shelf`, `shelves`, // without code; cache
	`trips?`, `lanes?`, `crews?`, `couriers?`, // call; reset mode; workers; subscriber
	`heeds?`, `heeded`, `mourns?`, `barks?`,
)

func phrases(list ...string) *regexp.Regexp {
	any := strings.Join(list, "|")
	return regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(any, " ", `\s+`) + `)\b`)
}

// standard matches terms that contain such a word and are standard themselves.
var standard = phrases(`round[- ]trips?`, `wall[- ]clock`, `wall[- ]times?`, `powers? of (?:two|ten)`,
	`loses? power`, `power cuts?`)

// withoutStandard returns a text of the same length and lines without the standard terms.
func withoutStandard(text string) string {
	return standard.ReplaceAllStringFunc(text, func(term string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return '_'
		}, term)
	})
}

// allowed has, by file or folder, the phrases that mean something else there: say what.
var allowed = map[string][]string{
	"abi/abitest/c_test.go":                      {"wall"},          // an option of C compilers
	"abi/internal/abigen/main_test.go":           {"wall"},          // the same
	"runtime/wasm":                               {"lane", "lanes"}, // of a SIMD vector
	"runtime/internal/admit":                     {"lane", "lanes"},
	"runtime/internal/meter":                     {"lane", "lanes"},
	"abi/abitest":                                {"nobody"},                   // a principal of the kit's provider
	"internal/strict":                            {"nobody"},                   // a user name
	"internal/approval":                          {"power"},                    // a key of JSON output
	"cmd/wasmres/internal/inspect":               {"lane"},                     // a key of JSON output
	"CONTRIBUTING.md":                            {"is for nobody", "whoever"}, // examples of what not to write
	"testdata/wasm/kit-assemblyscript/README.md": {"powers"},                   // a file name
	"runtime/internal/hostile":                   {"lane"},                     // a key of a message
	"runtime/internal/composite":                 {"nobody"},                   // a URI scheme without a provider
	"internal/session/determinism_test.go":       {"wall"},                     // what a guest prints of the wall clock
}

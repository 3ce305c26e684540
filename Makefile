# make run    builds the example providers and serves one; look at it with any MCP client
# make quick  what to run after each change: the parts of make check that take a minute together
# make check  everything CI runs
#
# All of them keep what they install inside this folder and the Go and npm caches.

GO         ?= go
EXAMPLES    = hello project everything fixtures memory web github openapi users postgres mysql file git screenshots settings sys skills
PROJECTS    = config logs screen
MODULES     = . guest-sdk/go examples/wasm testdata/wasm/kit-go internal/peers registry/internal/interop
CGO         = ./runtime/internal/confine # has files for builds with cgo
WASMTIME    = ./runtime/internal/engine/wasmtime ./runtime/internal/engine/engines # have files for builds with the second engine
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOTESTSUM   = gotest.tools/gotestsum@v1.13.0
HTTP       ?= 127.0.0.1:8080
FUZZTIME   ?= 2000x

.PHONY: run build examples $(EXAMPLES) $(PROJECTS) quick check foreground background format vet lint tidy test wasmtime attack e2e compatibility newcomer interop vectors fuzz soak disasters bench wasm tools clean

# The race detector has each process wait for a second when it exits unless this says otherwise.
export GORACE ?= atexit_sleep_ms=10

run: build hello project ## serve the project example, with this folder granted for reading
	bin/wasmres templates examples/wasm/project/project.wasm
	bin/wasmres run --dir .:/project:ro --http $(HTTP) examples/wasm/project/project.wasm

build: ## without the Markdown library of the flags, which every worker would start with
	CGO_ENABLED=0 $(GO) build -trimpath -tags urfave_cli_no_docs -o bin/wasmres ./cmd/wasmres

examples: $(EXAMPLES) $(PROJECTS)

$(EXAMPLES): ## each by its name, as make hello
	@echo "building examples/wasm/$@/$@.wasm"
	@cd examples/wasm && GOOS=wasip1 GOARCH=wasm $(GO) build -buildmode=c-shared -trimpath -ldflags='-s -w' -o $@/$@.wasm ./$@

$(PROJECTS): build ## those in other languages than Go, where there is a compiler for them
	@echo "building examples/wasm/$@/$@.wasm"
	@[ ! -f examples/wasm/$@/package-lock.json ] || [ -d examples/wasm/$@/node_modules ] || \
	  npm ci --prefix examples/wasm/$@ --ignore-scripts --no-audit --no-fund
	@bin/wasmres build examples/wasm/$@ || [ "$$WASMRES_TOOLCHAINS" != all ]

# No -count, no -shuffle and no -exec: Go then runs again only what a change reaches. Inputs of fuzz targets run with make fuzz. go test
# compiles also what has no tests.
quick: format ## what to run after each change
	$(CHANGED) | xargs -r env GOGC=400 $(GO) vet
	$(CHANGED) | xargs -r env GOGC=400 $(GO) run $(STATICCHECK)
	$(GO) test -vet=off -ldflags='$(LDFLAGS)' -short -skip='^Fuzz' -p=$(PARALLEL) ./...

# CHANGED lists the folders of the root module's packages in which the last commit, or a change since, has files of Go. Linters would
# look for a minute and a half at all packages that use a changed one: make check has them do that.
CHANGED = { $(GO) list -f '{{.Dir}}' ./...; { git diff --name-only --relative HEAD^; git ls-files --others --exclude-standard; } | \
            sed -n 's|[^/]*\.go$$||p' | sed 's|^|$(CURDIR)/|; s|/$$||' | sort -u; } | sort | uniq -d

# All but the race detector, which needs cgo, builds as make build does, so that each package is compiled once.
check: export CGO_ENABLED = 0
check: export GOFLAGS := $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath
check: format vet
	@rm -f bin/again-*
	@$(MAKE) --no-print-directory -j3 --output-sync=target foreground background
	@! cat bin/again-* 2>/dev/null || echo "make check: these tests failed once and passed when they ran again"
	@echo "make check: all of it passed"

# Tests, attacks and clients often wait for clocks and for other processes. Meanwhile the processors do what waits for nothing.
# The attacks come last, when nothing else of their priority runs. Fuzz targets run with the tests of their packages.
foreground: export TESTFUZZ = -exec=$(CURDIR)/.ci/testfuzz
foreground: test e2e
	@$(MAKE) --no-print-directory attack
background:
	@for step in tidy lint; do nice -n 19 $(MAKE) --no-print-directory $$step || exit 1; done

format:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "these files are not gofmt'd"; exit 1; }

# Compilers take a sixth less of the processors with more memory, of which they have 160 MB then. Tests keep the default of Go, as some measure their memory.
vet: export GOGC = 400
vet:
	@for m in $(MODULES); do echo "vet $$m"; (cd $$m && $(GO) vet ./...) || exit 1; done
	cd guest-sdk/go && GOOS=wasip1 GOARCH=wasm $(GO) vet .
	CGO_ENABLED=1 $(GO) vet $(RACING) $(CGO)
	CGO_ENABLED=1 $(GO) vet $(RACING) -tags wasmtime $(WASMTIME)

lint:
	GOBIN=$(CURDIR)/bin $(GO) install $(STATICCHECK)
	@for m in $(MODULES); do echo "staticcheck $$m"; (cd $$m && $(CURDIR)/bin/staticcheck ./...) || exit 1; done
	CGO_ENABLED=1 GOFLAGS="$$($(GO) env GOFLAGS) -race" bin/staticcheck $(CGO)

tidy:
	@for m in $(MODULES); do echo "tidy $$m"; (cd $$m && $(GO) mod tidy -diff) || exit 1; done

# STARTS matches what starts a goroutine. Where neither a package nor its tests have any of it, the race detector could find
# nothing that it does not find in the packages that call it: those packages run without it.
STARTS     = \<go (func|[a-zA-Z_.]+)\(|\.Go\(|\.Parallel\(\)|RunParallel|AfterFunc|httptest\.New(Unstarted|TLS)?Server
# DRIVING only starts programs, which are built without the race detector, and sends them requests.
DRIVING    = ./internal/node/nodebench ./internal/peers/serving
# GUESTS are the folders of guests, each of which has one thread.
GUESTS     = ./guest-sdk/go ./examples/wasm
# LONG run whole without the race detector, for which they would take several times as long, and with it only their short tests.
LONG       = ./cmd/wasmres ./internal/project
# COMPILING run without it: they compile or run many guests, one after the other. The tests of internal/app and internal/node have
# it look at internal/session, whose locks these use.
COMPILING  = ./internal/check ./internal/session ./runtime/internal/meter
# APART are tests that do one thing after the other, very often or with much memory. They run without it, which would take four times
# as long: the other tests of their packages have it look at the same code.
APART      = TestAPowerCut TestNoByteCanBeChanged \
             TestFidelity TestCertificatesAreOfTheHostOfTheirConnection TestOperatorsOfATenantSeeNothingOfAnother TestCrashesRunAgainInTwoLanguages \
             TestMangledStreams TestSplitAnywhere TestLongAnswers TestUnreadAcknowledgmentsTakeLittle TestUnreadAnswersTakeBoundedMemory \
             TestAllSpellingsAreRedacted TestTheWorkDoesNotTellHowMuchOfALongGuessIsRight \
             TestACallIsTheSameEverywhere TestALineInHalfIsRemoved TestWhatNoPowerCutLeaves TestQueriesFindTheirEntries \
             TestARotationThatIsKilled TestARotationOfTwoChanges \
             TestAKillAtEachStep TestTwoProcessesLoseNothing TestCorruptBlobsAreFoundAndMended \
             TestSubscriptionsShareTheirURIs TestPagesThatAreKeptAreBounded \
             TestAnImageInMemoryCounts TestReleasedMemoriesComeBackClean TestResetRestoresEveryByte TestResetHoldsForAnyGuest TestImagesLeaveNothingBehind \
             TestPagesOfRoles TestPagesShowTextsOfOthersAsTexts TestPagesOfManyTenantsAreSmall \
             TestVersionsByTheAPI TestProvidersDoNotFillTheLog TestResumedSessionsHaveNoOldAuthority TestReadsAreWritten \
             TestScripts TestHelpOfAllFlags TestOwnFlagsComeFirst TestHelpFitsOnAScreen
# COMPUTING only turn bytes into other bytes, or are SQLite, which is C: they start no goroutines and share nothing that
# changes. The race detector would take most of its time for them; it looks at all that call them. None of them has a sync.Map: the
# linker may take the code that one package has of its generic type for that of all, and the race detector then sees races
# where there are none. Optimizing SQLite takes longer than its tests do.
WASMRES    = github.com/wasmres/wasmres/runtime
COMPUTING  = $(addprefix $(ENGINE)/internal/,engine/wazevo/backend/... engine/wazevo/frontend engine/wazevo/ssa wasm/binary leb128) \
             $(addprefix $(WASMRES)/,internal/admit internal/meter wasm) golang.org/x/crypto/... modernc.org/...

# RACING has the race detector. Whatever is built with cgo has it as well, so that each package is compiled for cgo once.
RACING     = -race $(COMPUTING:%=-gcflags=%=-race=false) -gcflags='modernc.org/sqlite/lib=-race=false -N -l'

# TEST runs again what failed: see .ci/test. It leaves out the part of go vet that go test repeats, and what only debuggers read. It runs two packages for each
# processor: many wait for clocks and for other processes. It tells test binaries the version of wazero, which only programs
# know: with the same version, tests and the program that they build share the native code of guests.
ENGINE     = github.com/tetratelabs/wazero
LDFLAGS    = -s -w -X $(ENGINE)/internal/version.version=$(shell $(GO) list -m -f '{{.Version}}' $(ENGINE))
TEST       = $(CURDIR)/.ci/test -vet=off -ldflags='$(LDFLAGS)' -shuffle=on -timeout=40m -p=$(PARALLEL)
PARALLEL   = $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN))
RACE       = CGO_ENABLED=1 $(TEST) $(RACING) -skip='^(Fuzz.*|$(ANY_APART))$$'

# ANY_APART matches the tests of APART. HAS_APART filters the folders of packages that have them, and fuzz targets if these run as well.
ANY_APART  = $(shell echo $(APART) | tr ' ' '|')
HAS_APART  = while read -r dir; do ! grep -qE '^func ($(if $(TESTFUZZ),Fuzz.*|,)$(ANY_APART))\(' $$dir/*_test.go || echo $$dir; done

# TESTED lists the folders of a module's packages that have tests, without those that make attack and make e2e run. PLAIN and RACED are
# filters of that list.
TESTED     = $(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | grep -v -e /internal/hostile -e /internal/e2e
UNRACED    = $(patsubst .%,-e '%$$',$(LONG) $(COMPILING) $(DRIVING)) $(patsubst .%,-e %,$(GUESTS))
PLAIN      = while read -r dir; do grep -qE '$(STARTS)' $$dir/*.go && ! echo $$dir | grep -q $(UNRACED) || echo $$dir; done
RACED      = while read -r dir; do ! grep -qE '$(STARTS)' $$dir/*.go || echo $$dir; done | grep -v $(UNRACED) | sort -r

test e2e attack wasmtime soak disasters newcomer: bin/gotestsum

bin/gotestsum:
	GOBIN=$(CURDIR)/bin CGO_ENABLED=0 $(GO) install $(GOTESTSUM)

test: ## first what compiles the examples without the race detector: the other tests find them compiled
	@for m in $(MODULES); do echo "test $$m"; (cd $$m && $(TESTED) | $(PLAIN) | xargs -r env $(FUZZ_ENV) $(TEST) $(TESTFUZZ)) || exit 1; done
	@for m in $(MODULES); do echo "test $$m without the race detector"; \
	  (cd $$m && $(TESTED) | $(RACED) | $(HAS_APART) | xargs -r env $(FUZZ_ENV) $(TEST) $(TESTFUZZ) -run='^($(ANY_APART))$$') || exit 1; done
	@for m in $(MODULES); do echo "test $$m with the race detector"; \
	  (cd $$m && $(TESTED) | $(RACED) | xargs -r env $(RACE)) || exit 1; done # the slowest early
	$(RACE) -short $(LONG)
	$(RACE) -tags=wasmtime $(WASMTIME)

# OF_GUESTS are tests of providers that are too long for -short, and look at what an engine does.
OF_GUESTS  = TestEveryFaultHasItsCodeAndTheNextCallWorks|TestACrashSaysWhereTheGuestWas|TestAClientSeesNothingOfAnother|TestEveryResetIsByteExact|TestDeterminismLeavesTheHostItsClock|TestMoreCallsThanSlotsAreRefusedInTime

# Each of these links a library of 50 MB: make check tests the engine alone.
wasmtime: ## the tests of providers, workers and attacks on the second engine
	CGO_ENABLED=1 $(TEST) -short -tags=wasmtime -run=Engine ./runtime
	CGO_ENABLED=1 $(TEST) -tags=wasmtime -run='TestScripts/^engines$$' ./cmd/wasmres
	WASMRES_ENGINE=wasmtime CGO_ENABLED=1 $(TEST) -tags=wasmtime -run='^($(OF_GUESTS))$$' ./runtime/internal/provider
	WASMRES_ENGINE=wasmtime CGO_ENABLED=1 $(TEST) -short -tags=wasmtime $(WASMTIME) $(addprefix ./runtime/internal/,differential provider worker attack hostile)

attack: ## the corpus of attacks, with nothing of the same priority beside it that would disturb its clocks
	$(TEST) ./runtime/internal/hostile

# FUZZED filters the folders of packages with fuzz targets. FUZZ has .ci/fuzz run the targets of packages, with the variables of FUZZ_ENV.
FUZZED   = while read -r dir; do ! grep -q '^func Fuzz' $$dir/*_test.go || echo $$dir; done
FUZZ_ENV = FUZZTIME=$(FUZZTIME) ROOT=$(CURDIR) GOCACHE=$$($(GO) env GOCACHE)
FUZZ     = $(FUZZ_ENV) $(GO) test -vet=off -ldflags='$(LDFLAGS)' -count=1 -v -timeout=0 -exec=$(CURDIR)/.ci/fuzz

fuzz: ## each fuzz target for a number of inputs
	@for m in $(MODULES); do (cd $$m && $(TESTED) | $(FUZZED) | xargs -r env $(FUZZ)) || exit 1; done

# With -fuzz the linked tests count what an input covers, so that fuzzing looks for what is new: worth its minutes of compiling
# where fuzzing goes on for hours.
soak: FUZZTIME = 600000x
soak: ## the attacks that are much like others, ten million messages of a worker that lies, authors of five languages, disasters of servers, then each fuzz target for a night: three hundred times the inputs of make check, guided by what they cover
	WASMRES_HOSTILE_LONG=1 $(TEST) ./runtime/internal/hostile
	WASMRES_MESSAGES=10000000 $(TEST) -run=TestACompromisedWorker ./runtime/internal/worker/link
	$(TEST) ./cmd/wasmres -run=TestAuthorsPublish -walk-all
	$(MAKE) --no-print-directory disasters
	@for m in $(MODULES); do (cd $$m && $(TESTED) | $(FUZZED) | xargs -r -n1 -P "$$(getconf _NPROCESSORS_ONLN)" env $(FUZZ) -fuzz=.) || exit 1; done

# The small form of these tests is in make check: see internal/hosttest.
disasters: ## what a server of tenants survives, whole: kills, memory that runs out, tenants that wake at once or want all; 20 minutes at most
	WASMRES_SOAK=1 $(TEST) -timeout=18m -count=1 -run='Killed|TenantsWake|WeightsReach|OfAGroup|InAFullGroup' \
	  ./internal/tenant/store ./internal/ledger ./internal/blobs ./internal/node ./cmd/wasmres

e2e: tools ## real clients: conformance suite, inspector, TypeScript client; all examples with real servers
	$(MAKE) --no-print-directory hello config # the tests build the others
	WASMRES_E2E=1 $(TEST) -parallel=4 -count=1 ./internal/e2e # most wait for others

tools: internal/e2e/node_modules/.ready

internal/e2e/node_modules/.ready: internal/e2e/package-lock.json
	npm ci --prefix internal/e2e --ignore-scripts --no-audit --no-fund
	touch $@

compatibility: build examples internal/e2e/compatibility/node_modules/.ready ## other people's clients: writes docs/compatibility.md; needs chromium
	cd internal/e2e/compatibility/goclients && $(GO) build -o bin/ ./sdk ./mcpgo && $(GO) build -modfile=go-sdk-1.0.0.mod -o bin/sdk-1.0.0 ./sdk
	cd internal/e2e/compatibility && $(GO) run .

internal/e2e/compatibility/node_modules/.ready: internal/e2e/compatibility/package-lock.json
	npm ci --prefix internal/e2e/compatibility --ignore-scripts --no-audit --no-fund --legacy-peer-deps
	touch $@

newcomer: bin/.debian internal/e2e/newcomer/node_modules/.ready ## installs the package of a release in a bare Debian, for two MCP clients; needs root, dpkg-deb and mmdebstrap
	WASMRES_NEWCOMER=$(CURDIR)/bin/.debian $(TEST) -count=1 -v -run=TestNewcomer ./internal/e2e -newcomer.cast

bin/.debian: # go ignores folders whose names begin with a dot
	mmdebstrap --variant=essential bookworm $@

internal/e2e/newcomer/node_modules/.ready: internal/e2e/newcomer/package-lock.json
	npm ci --prefix internal/e2e/newcomer --ignore-scripts --no-audit --no-fund
	touch $@

interop: ## other people's programs for registries: writes a table of docs/registry.md; cosign takes minutes to compile
	cd registry/internal/interop && $(GO) run ./table
	cd registry/internal/interop/sigstore && $(GO) test -mod=mod -count=1 -bench=. . # the root module may need later versions by now

vectors: ## have cosign make the vectors of registry/internal/bundle again
	cd registry/internal/interop && $(GO) run ./vectors

bench: ## wasmres beside other servers, then every benchmark
	cd internal/peers && $(GO) run ./serving
	$(GO) test -run='^$$' -bench=. -benchmem ./...

wasm: ## make the small test modules again; needs Debian's wabt, clang and lld
	for f in testdata/wasm/*.wat runtime/internal/hostile/modules/*.wat runtime/internal/engine/wazero/*.wat runtime/*.wat runtime/preinit/testdata/*.wat; do wat2wasm $$f -o $${f%.wat}.wasm || exit 1; done
	clang --target=wasm32 -Os -mbulk-memory -Iguest-sdk/c -c -o greeting.o runtime/testdata/greeting.c
	clang --target=wasm32 -nostdlib -Wl,--no-entry,--stack-first,--strip-all -o runtime/testdata/greeting.wasm greeting.o && rm greeting.o
	wat2wasm --debug-names testdata/wasm/faults.wat -o testdata/wasm/faults.debug.wasm

clean:
	rm -rf bin internal/e2e/node_modules internal/e2e/compatibility/node_modules internal/e2e/newcomer/node_modules internal/peers/serving/js/node_modules examples/wasm/*/*.wasm

# The commands of this project. `make` lists them; README.md describes them.
.DEFAULT_GOAL := help
SHELL := /bin/sh

GO ?= go
# All is compiled as the functions are, so that nothing is compiled twice, here or in
# another checkout of the same sources.
export CGO_ENABLED := 0
export GOFLAGS := $(filter-out -trimpath,$(shell $(GO) env GOFLAGS 2>/dev/null)) -trimpath
# The tools run on the pinned Node, once it is installed.
export PATH := $(CURDIR)/.tools/runtime-node/node_modules/.bin:$(PATH)
PORT ?= 8080
# Who generates for live keys of the local system: fakes, or the real providers.
PROVIDERS ?= fake
# The architecture of the deployed functions: arm64 or x86_64.
ARCH ?= arm64
CUSTOMER ?= acme

# What is generated, and must be committed as it would be generated now.
GENERATED := pkg/service/api/examples.json clients/openapi.json clients/openapi.yaml pkg/auth/authorizer/scopes_gen.go \
	pkg/media/compose/script/glyphs.bin

# The wildcard ./... leaves testdata out.
PACKAGES := ./... ./testdata/fakes/... ./testdata/providers/... ./testdata/platforms/... ./testdata/receiver ./testdata/importer

# The end-to-end tests that SAM can carry, but for answers of the gateway's own:
# docs/sam.md says what SAM does otherwise.
SAM_TESTS := ^Test(QuickStart|MainJob|ABatchOfContent|ChangesOfContent|Events|KeyLifeCycle|Idempotency|Factories|Catalog|Studio|RateLimit|Refusals)$$
SAM_SKIPS := ^TestRefusals$$/^(no_key|another_scheme|garbage|mistyped|unknown_key|unknown_path_outside)

CDK := .tools/node/node_modules/.bin/cdk
REDOCLY := .tools/node/node_modules/.bin/redocly
SPECTRAL := .tools/spectral-node/node_modules/.bin/spectral

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: .local/bin/run ## Run the whole service in one process; PORT=8080, PROVIDERS=fake or real, FRESH=1 without earlier data
	@PORT=$(PORT) PROVIDERS=$(PROVIDERS) FRESH=$(FRESH) exec .local/bin/run

.PHONY: stack
stack: .local/bin/local .local/bin/receiver explorer-assets media-tools ## Deploy the stacks onto a local AWS, and run the service there; PORT, PROVIDERS as for run
	@PORT=$(PORT) PROVIDERS=$(PROVIDERS) exec .local/bin/local stack

.PHONY: sam
sam: .local/bin/local explorer-assets media-tools ## Run the service with its API in containers, by AWS SAM; needs Docker. PORT, PROVIDERS as for run
	@PORT=$(PORT) PROVIDERS=$(PROVIDERS) exec .local/bin/local sam

.PHONY: sandbox
sandbox: go explorer-assets ## Build the sandbox for the tests of callers, one static binary, into build/sandbox
	@$(GO) build -ldflags='-s -w' -o build/sandbox/ ./clients/sandbox

.PHONY: build
build: .local/bin/local explorer-assets layer ## Build the functions and the layer into build; ARCH=arm64 or x86_64
	@.local/bin/local build -arch $(ARCH)

# The commands are always asked for: go build knows best whether they are up to date. They are
# built as the functions are, so that nothing is compiled twice.
.PHONY: .local/bin/local .local/bin/receiver .local/bin/run go
.local/bin/local: go
	@$(GO) build -o $@ ./infra/local

# The receiver of the quick start.
.local/bin/receiver: go
	@$(GO) build -o $@ ./testdata/receiver

# The receiver of the quick start comes with it. Looking for newer files takes less time than go build takes to see that
# there are none.
.local/bin/run: go
	@if [ ! -x $@ ] || [ -n "$$(find go.mod clients infra pkg testdata -newer $@ -print -quit)" ]; then \
		$(GO) build -ldflags='-s -w' -o .local/bin/ ./infra/local/run ./testdata/receiver && touch $@; \
	fi

go:
	@command -v $(GO) >/dev/null || { echo "Go is not installed: get Go 1.26 or newer from https://go.dev/dl."; exit 1; }

.PHONY: tools
tools: .local/bin/local ## Install the pinned tools into .tools
	@.local/bin/local tools

# What pkg/service/docs embeds. Asked for each time: the script sees whether it is there.
.PHONY: explorer-assets
explorer-assets:
	@command -v node >/dev/null && command -v npm >/dev/null || { echo "Node is not installed: get Node 22 or newer, with npm, from https://nodejs.org."; exit 1; }
	@node infra/tools/explorer-assets.mjs

# What pkg/media/compose works with: ffmpeg and fonts, and ffprobe for its tests.
.PHONY: media-tools
media-tools: ## Install ffmpeg, ffprobe and the fonts into .tools/media, at pinned versions
	@node infra/tools/media-tools.mjs

.PHONY: layer
layer: ## Make the Lambda layer with ffmpeg and the fonts, into build/layer/<arch>; ARCH=arm64 or x86_64
	@node infra/tools/media-tools.mjs layer $(ARCH)

# Both commands end with a table of what ran, for how long, and what did not run for want of which tool. The compiler and
# the tests may use more memory, and take less time.
.PHONY: test
test: export GOGC := 800
test: explorer-assets test-tools ## Run what tells a right change from a wrong one
	@$(GO) run ./infra/verify/suite

.PHONY: check
check: export GOGC := 800
check: explorer-assets test-tools ## Lint the code, the document and the clients; compare the store with AWS's engine
	@.local/bin/local tools check
	@$(GO) run ./infra/verify/suite -check

.PHONY: test-all
test-all: export GOGC := 800
test-all: explorer-assets test-tools ## Run make test, make check and the long tests: docs/tests.md
	@.local/bin/local tools check
	@.local/bin/local tools all
	@$(GO) run ./infra/verify/suite -all

.PHONY: test-e2e
test-e2e: explorer-assets test-tools ## Run the end-to-end tests on the service in one process
	$(GO) test -vet=off -count=1 -parallel 8 -timeout 25m ./infra/verify/e2e

# The race detector needs cgo, and so a C compiler. The packages with most goroutines run under
# it: not their slowest tests, which are sweeps over every step, or of large answers. Of compose
# there are the videos of two tests, one of which is canceled, since ffmpeg takes the time of all
# others; of simulate there are a few seeds.
RACE_PACKAGES := ./pkg/task/... ./pkg/area/webhook ./pkg/httpapi/... ./pkg/store/... \
	./infra/local/standalone
RACE_SKIPS := ^Test(ADeathAtAnyStepOf(AnOutage|AnUrgentAttempt)LosesNothing|ALargeAnswerIsKeptWhole|ALateRunWithALargeAnswerLeavesNothing|AnAnswerThatCannotBeKeptHasNoEffect|APageOfLargeItemsIsShort|ASlowReceiverKeepsFewAttemptsWaiting)$$
RACE_VIDEOS := ^Test(TheVoiceDecidesTheCut|ACompositionEndsWhenItIsCanceled)$$
.PHONY: test-race
test-race: export CGO_ENABLED := 1
test-race: explorer-assets media-tools ## Run tests of concurrent packages under the race detector; needs a C compiler
	@if command -v "$$($(GO) env CC)" >/dev/null; then \
		set -e; \
		$(GO) test -race -vet=off -skip '$(RACE_SKIPS)' $(RACE_PACKAGES); \
		$(GO) test -race -vet=off -run '$(RACE_VIDEOS)' ./pkg/media/compose; \
		SEEDS=5 $(GO) test -race -vet=off -run '^TestSeeds$$' ./infra/verify/simulate; \
	else \
		echo "test-race: not run, because there is no C compiler"; \
	fi

.PHONY: test-engine
test-engine: explorer-assets test-tools ## Run tests on AWS's own database engine: those of the store, ENGINE=all for all; needs a JDK and Maven
	@.local/bin/local test-engine $(ENGINE)

.PHONY: test-deployed
test-deployed: explorer-assets generate-check test-tools ## Run the tests of the deployed template: what only it can show, and chaos
	$(GO) test -tags deployed -vet=off -count=1 -p 1 -parallel 3 -timeout 25m ./infra/verify/e2e ./infra/verify/chaos

# What make test needs. The long tests install what they need themselves.
.PHONY: test-tools
test-tools: media-tools .local/bin/local
	@.local/bin/local tools

.PHONY: test-sam
test-sam: explorer-assets media-tools ## Run end-to-end tests through AWS SAM, where a Docker engine runs
	@if docker info >/dev/null 2>&1; then \
		SAM=1 $(GO) test -tags deployed -count=1 -run '$(SAM_TESTS)' -skip '$(SAM_SKIPS)' ./infra/verify/e2e; \
	else \
		echo "test-sam: not run, because no Docker engine answers"; \
	fi

.PHONY: test-explorer
test-explorer: explorer-assets ## Use the explorer in Chromium, which must be installed
	@cd pkg/service/docs/browser && npm ci --loglevel=error
	$(GO) test -tags explorer -count=1 -v -run TestExplorerInChromium ./pkg/service/docs

.PHONY: console-assets
console-assets: ## Build the style of the account area anew, after a change of its templates
	@node infra/tools/console-assets.mjs

.PHONY: test-console
test-console: explorer-assets ## Use the account area in Chromium, which must be installed
	@cd infra/verify/console/browser && npm ci --loglevel=error
	$(GO) test -tags console -count=1 -timeout 30m -v -run InChromium ./infra/verify/console

.PHONY: test-mcp
test-mcp: explorer-assets media-tools .local/bin/local ## Check the server for agents by the inspector of its protocol and the official clients
	@.local/bin/local tools mcp
	$(GO) test -tags inspector -vet=off -count=1 -v -run '^Test(TheInspectorFindsNoFault|ScriptedAgentTasks)$$' ./infra/verify/e2e
	$(GO) test -tags inspector -vet=off -count=1 -v -run '^TestOfficialClients' ./infra/verify/console

# What the libraries of X and Bluesky find in texts. The tests compare the code with it.
TEXTS := pkg/adapter/platform/texts/testdata/judges.jsonl
.PHONY: texts-table
texts-table: .local/bin/local ## Write what the libraries of X and Bluesky find in texts, for the tests
	@.local/bin/local tools texts
	@node infra/tools/texts/judge.mjs .tools/texts-node > $(TEXTS)

.PHONY: test-texts
test-texts: .local/bin/local
	@.local/bin/local tools texts
	@mkdir -p build && node infra/tools/texts/judge.mjs .tools/texts-node > build/judges.jsonl
	@cmp build/judges.jsonl $(TEXTS) || { echo "The table is out of date: run make texts-table, and judge the change."; exit 1; }

# How Skia draws each emoji, and for the short tests how it draws some: EMOJI_TABLE=yes writes their table anew.
.PHONY: test-emoji
test-emoji: media-tools .local/bin/local
	@.local/bin/local tools emoji
	EMOJI_TABLE=$(EMOJI_TABLE) $(GO) test -tags long -vet=off -count=1 -v -run '^TestEmojiLookAsSkiaDrawsThem$$' ./pkg/media/compose/text

.PHONY: simulate
simulate: ## Simulate the service under faults: SEEDS=1000 FROM=0
	cd infra/verify/simulate && SEEDS=$(or $(SEEDS),1000) FROM=$(or $(FROM),0) $(GO) test -count=1 -timeout 0 -run TestSeeds

.PHONY: evaluate-learning
evaluate-learning: ## Simulate experiments with and without effects, and write docs/learning.md
	$(GO) run ./infra/verify/learning

.PHONY: evaluate
evaluate: ## Measure the guards of texts; WRITER=model JUDGE=model BEFORE=file: also the texts of real models
	$(GO) run ./infra/verify/evaluate -writer "$(WRITER)" -judge "$(JUDGE)" -before "$(BEFORE)"

.PHONY: figures
figures: ## Print what makes the repository easy or hard to read: lines, packages, methods, with their bounds
	@$(GO) run ./infra/verify/figures

.PHONY: members
members: ## Write build/members.md: what an import does with each member of a resource
	@mkdir -p build
	$(GO) run ./infra/verify/members build/members.md

.PHONY: prompts-page
prompts-page: ## Write build/prompts.md: ten texts of each type of factory, with their prompts
	@mkdir -p build
	$(GO) run ./infra/verify/evaluate/page build/prompts.md

.PHONY: opens
opens: ## Write build/opens.md: what each operation opens, and which mandates stop it
	@mkdir -p build
	$(GO) run ./infra/verify/opens > build/opens.md

.PHONY: fuzz
fuzz: ## Send odd requests to every operation: REQUESTS=1000000 SEED=2
	FUZZ_REQUESTS=$(or $(REQUESTS),1000000) FUZZ_SEED=$(or $(SEED),2) $(GO) test -vet=off -count=1 -timeout 0 -v ./infra/verify/fuzz

.PHONY: measure
measure: tools explorer-assets media-tools ## Count units, cost and limits, and time start-up; writes docs/measured.md; ONLY=units,cost,scale,standing,start
	$(GO) run ./infra/measure -only '$(ONLY)' -o docs/measured.md

.PHONY: bench-media
bench-media: media-tools ## Measure what compositions use
	$(GO) run ./infra/measure/compositions

.PHONY: contact-sheet
contact-sheet: media-tools ## Compose every kind in six scripts; writes docs/media/*.jpg
	$(GO) run ./infra/measure/compositions -sheet docs/media

.PHONY: chaos
chaos: tools explorer-assets media-tools ## Kill and freeze functions of the local system while events are on their way
	$(GO) run ./infra/verify/chaos

.PHONY: generate
generate: ## Write the OpenAPI document and what is made from it
	$(GO) generate ./...
	@$(MAKE) --no-print-directory clients

.PHONY: clients
clients: ## Write the clients from the OpenAPI document
	$(GO) run ./clients/internal/generate

# The document of the last release, and the breaking changes since then that are accepted.
DOCUMENT ?= clients/openapi.json
ACCEPTED ?= clients/released/accepted.txt
.PHONY: breaking
breaking: ## Compare the OpenAPI document with that of the last release; fails on a breaking change
	@$(GO) tool -modfile=infra/tools/oasdiff.mod oasdiff breaking clients/released/openapi.json $(DOCUMENT) \
		--fail-on ERR --err-ignore $(ACCEPTED)

.PHONY: release-document
release-document: ## Keep the OpenAPI document as that of the release
	$(GO) run ./clients/internal/generate -release

.PHONY: test-clients
test-clients: export GOGC := 800
test-clients: explorer-assets .local/bin/local ## Run the clients in empty projects, against the sandbox and the table of faults, and those of other generators
	@.local/bin/local tools sdk
	$(GO) test -vet=off -count=1 -timeout 30m -tags clients ./clients/internal/verify
	@cd clients/go && $(GO) vet ./...

# The engine of n8n takes a gigabyte: these tests are not among those of make test.
.PHONY: test-n8n
test-n8n: explorer-assets .local/bin/local ## Build the n8n node, and run it in the engine of n8n against the sandbox
	@.local/bin/local tools n8n
	$(GO) test -vet=off -count=1 -timeout 10m -tags n8n ./clients/internal/verify

.PHONY: measure-clients
measure-clients: .local/bin/local ## Print sizes and import times of the clients beside those of other APIs
	@.local/bin/local tools sizes
	@sh infra/tools/sizes/measure.sh

.PHONY: generate-check
generate-check:
	@set -e; was=$$(cat $(GENERATED) | cksum); $(GO) generate ./...; \
	[ "$$was" = "$$(cat $(GENERATED) | cksum)" ] || \
		{ echo "The generated files were out of date. They are not any more: commit $(GENERATED)."; exit 1; }

.PHONY: lint
lint: lint-code lint-stacks ## Analyse the code and the stacks, and lint the OpenAPI document

.PHONY: lint-code
lint-code: vet staticcheck

.PHONY: vet
vet: explorer-assets
	$(GO) vet $(PACKAGES)
	$(GO) vet -tags deployed ./infra/verify/e2e
	$(GO) vet -tags long ./pkg/media/compose ./pkg/media/compose/text
	$(GO) vet -tags clients ./clients/internal/verify
	$(GO) vet -tags n8n ./clients/internal/verify
	$(GO) vet -tags judges ./infra/app/stack

.PHONY: staticcheck
staticcheck: explorer-assets
	$(GO) tool staticcheck $(PACKAGES)
	$(GO) tool staticcheck -tags deployed ./infra/verify/e2e

.PHONY: lint-document
lint-document:
	@REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $(REDOCLY) lint --config infra/tools/redocly.yaml clients/openapi.json

.PHONY: lint-stacks
lint-stacks: explorer-assets .local/bin/local lint-document
	@.local/bin/local tools all
	$(GO) run ./infra/verify/judge
	$(GO) test -tags judges -vet=off -count=1 -run SAM ./infra/app/stack
	@$(SPECTRAL) lint --ruleset infra/tools/spectral/ruleset.yaml --fail-severity hint clients/openapi.json

.PHONY: vulnerabilities
vulnerabilities: ## Look for known vulnerabilities; fails where it cannot look, unless OFFLINE=yes
	@OFFLINE=$(OFFLINE) $(GO) run ./infra/verify/vulnerabilities

.PHONY: sbom
sbom: explorer-assets ## Write the functions' bill of materials (CycloneDX) and licences into build/sbom
	$(GO) run ./infra/verify/sbom

.PHONY: synth
synth: tools build ## Synthesise a customer's stacks into cdk.out; CUSTOMER=acme
	@$(CDK) synth --quiet -c customer=$(CUSTOMER) -c arch=$(ARCH)

# What is deployed, which the stacks have as an output.
VERSION ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)$(if $(shell git status --porcelain 2>/dev/null),-changed)

# What the stacks are for; without STAGE, REGION and ARCH, as cdk.json says.
TARGET = -customer '$(CUSTOMER)' $(if $(STAGE),-stage '$(STAGE)') $(if $(REGION),-region '$(REGION)') \
	$(if $(filter command line environment,$(origin ARCH)),-arch '$(ARCH)')

.PHONY: preflight
preflight: ## Check whether an AWS account is ready; CUSTOMER=acme STAGE=prod REGION=eu-central-1
	@$(GO) run ./infra/operate/deploy preflight $(TARGET)

.PHONY: bootstrap
bootstrap: tools ## Prepare an AWS account and region for the CDK
	@$(GO) run ./infra/operate/deploy bootstrap $(TARGET)

.PHONY: deploy
deploy: tools ## Build and deploy a customer's stacks; APPROVAL=never does not ask about permissions
	@$(GO) run ./infra/operate/deploy deploy $(TARGET) -version '$(VERSION)' -approval $(or $(APPROVAL),broadening)

.PHONY: diff
diff: tools ## Show what a deployment would change
	@$(GO) run ./infra/operate/deploy diff $(TARGET) -version '$(VERSION)'

.PHONY: deploy-all
deploy-all: tools ## Deploy all customers in waves, one after another; stops at the first failure, and may be repeated
	@$(GO) run ./infra/operate/deploy deploy-all -version '$(VERSION)' -approval $(or $(APPROVAL),never)

.PHONY: diff-all
diff-all: ## Show which customers deploy-all would deploy, and which budget of errors is burned
	@$(GO) run ./infra/operate/deploy diff-all -version '$(VERSION)'

.PHONY: drift
drift: ## Show what was changed in a customer's stacks without a deployment
	@$(GO) run ./infra/operate/deploy drift $(TARGET)

.PHONY: models
models: ## Compare the catalog of models with what providers publish, and write the table of rows; REGION=… also with Bedrock
	@$(GO) run ./infra/operate/catalog -region "$(REGION)"

.PHONY: residency
residency: ## Show which data of a customer leaves its region, by model and operator; CUSTOMER=acme
	@$(GO) run ./infra/operate/residency $(CUSTOMER) $(REGION)

.PHONY: destroy
destroy: tools ## Destroy a customer's stacks; DATA=yes that of the data too, CONFIRM=yes without a question
	@$(GO) run ./infra/operate/deploy destroy $(TARGET) $(if $(filter yes,$(CONFIRM)),-yes) $(if $(filter yes,$(DATA)),-data)

.PHONY: clean
clean: ## Remove everything that was built or installed
	rm -rf .local .tools build cdk.out pkg/service/docs/browser/node_modules infra/verify/console/browser/node_modules
	rm -f pkg/service/docs/assets/*.gz

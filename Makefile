# The commands of this project. `make` lists those that people use most; docs/tests.md and docs/deploying.md have the
# others, which are programs: go run ./infra/…
.DEFAULT_GOAL := help
SHELL := /bin/sh

GO ?= go
# All is compiled as the functions are, so that nothing is compiled twice, here or in another checkout of the same
# sources. The tools run on the pinned Node, once it is installed.
export CGO_ENABLED := 0
export GOFLAGS := $(filter-out -trimpath,$(shell $(GO) env GOFLAGS 2>/dev/null)) -trimpath
export PATH := $(CURDIR)/.tools/runtime-node/node_modules/.bin:$(PATH)
PORT ?= 8080
# Who generates for live keys of the local system: fakes, or the real providers.
PROVIDERS ?= fake
# The architecture of the deployed functions: arm64 or x86_64.
ARCH ?= arm64
CUSTOMER ?= acme

SUITE := $(GO) run ./infra/verify/suite

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo; echo "More: docs/tests.md (stages of the tests), docs/deploying.md (customers), docs/measured.md (measurements)"

.PHONY: run
run: .local/bin/run ## Run the service in one process; PORT=8080, PROVIDERS=fake or real, FRESH=1 without earlier data
	@PORT=$(PORT) PROVIDERS=$(PROVIDERS) FRESH=$(FRESH) exec .local/bin/run

.PHONY: sandbox
sandbox: go explorer-assets ## Build the sandbox for the tests of callers, one static binary, into build/sandbox
	@$(GO) build -ldflags='-s -w' -o build/sandbox/ ./clients/sandbox

# These three end with a table of what ran, for how long, and what did not run for want of which tool.
.PHONY: test
test: go node ## Tell a right change from a wrong one
	@$(SUITE)

.PHONY: check
check: go node ## Lint the code, the document and the clients; compare the store with AWS's engine
	@$(SUITE) -check

.PHONY: test-all
test-all: go node ## Run make test, make check and the long tests
	@$(SUITE) -all

.PHONY: generate
generate: ## Write the OpenAPI document and what is made from it
	$(GO) generate ./...
	@$(MAKE) --no-print-directory clients

.PHONY: clients
clients: ## Write the clients from the OpenAPI document
	$(GO) run ./clients/internal/generate

.PHONY: deploy
deploy: tools ## Build and deploy a customer's stacks; CUSTOMER=acme STAGE=prod REGION=eu-central-1
	@$(OPERATE)

.PHONY: clean
clean: ## Remove everything that was built or installed
	rm -rf .local .tools build cdk.out pkg/service/docs/browser/node_modules infra/verify/console/browser/node_modules
	rm -f pkg/service/docs/assets/*.gz

# The rest is for other programs, documents and scripts.

# What is deployed, and for whom; without STAGE, REGION and ARCH, as cdk.json says.
VERSION ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)$(if $(shell git status --porcelain 2>/dev/null),-changed)
TARGET = -customer '$(CUSTOMER)' $(if $(STAGE),-stage '$(STAGE)') $(if $(REGION),-region '$(REGION)') \
	$(if $(filter command line environment,$(origin ARCH)),-arch '$(ARCH)')
OPERATE = $(GO) run ./infra/operate/deploy $@ $(TARGET) -version '$(VERSION)' \
	$(if $(APPROVAL),-approval '$(APPROVAL)') $(if $(filter yes,$(CONFIRM)),-yes) $(if $(filter yes,$(DATA)),-data)

.PHONY: preflight residency drift bootstrap synth diff destroy deploy-all diff-all
preflight residency drift:
	@$(OPERATE)
bootstrap synth diff destroy: tools
	@$(OPERATE)
deploy-all diff-all: tools
	@$(GO) run ./infra/operate/deploy $@ -version '$(VERSION)' $(if $(APPROVAL),-approval '$(APPROVAL)')

# The service on a local AWS, as it is deployed, or with its API in containers, by AWS SAM.
.PHONY: stack sam
stack sam: .local/bin/local .local/bin/receiver explorer-assets media-tools
	@PORT=$(PORT) PROVIDERS=$(PROVIDERS) exec .local/bin/local $@

# The CDK calls this one for each deployment.
.PHONY: build
build: .local/bin/local explorer-assets
	@node infra/tools/media-tools.mjs layer $(ARCH)
	@.local/bin/local build -arch $(ARCH)

# Stages of the tests by their names.
.PHONY: vet staticcheck lint-document test-clients test-console vulnerabilities
vet staticcheck vulnerabilities: go node
	@$(SUITE) -only $@
lint-document: go node
	@$(SUITE) -only document
test-clients test-console: go node
	@$(SUITE) -only $(patsubst test-%,%,$@)

.PHONY: measure
measure: tools explorer-assets media-tools
	$(GO) run ./infra/measure -only '$(ONLY)' -o infra/measure/testdata/tables.md -page docs/measured.md

.PHONY: figures evaluate evaluate-learning
figures:
	@$(GO) run ./infra/verify/suite figures
evaluate:
	$(GO) run ./infra/verify/evaluate -writer "$(WRITER)" -judge "$(JUDGE)" -before "$(BEFORE)"
evaluate-learning:
	$(GO) run ./infra/verify/tables learning

# The commands are always asked for: go build knows best whether they are up to date.
.PHONY: .local/bin/local .local/bin/receiver .local/bin/run go node
.local/bin/local: go
	@$(GO) build -o $@ ./infra/local
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
node:
	@command -v node >/dev/null && command -v npm >/dev/null || { echo "Node is not installed: get Node 22 or newer, with npm, from https://nodejs.org."; exit 1; }

# Pinned tools: those of the local system and the tests, what pkg/service/docs embeds, ffmpeg and fonts, and the style of
# the account area.
.PHONY: tools explorer-assets media-tools console-assets
tools: .local/bin/local
	@.local/bin/local tools
explorer-assets media-tools console-assets: node
	@node infra/tools/$@.mjs

package main

import "strings"

// stage is one command of the suite.
type stage struct {
	name string
	// lane is the row of stages that it belongs to: the stages of a lane run one after the other, and the lanes 0 and 1
	// at the same time.
	lane int
	// first stages run before the lanes begin.
	first bool
	// needs is a program without which the stage does not run, or empty.
	needs string
	// long stages are those of make test-all alone, and check stages those of make check. Stages that mostly wait are
	// in lane 1, beside stages that compute.
	long, check bool
	// tools is the set of tools of `local tools` that the stage needs beside the usual ones.
	tools   string
	command []string
	env     []string
}

// alone is the lane of the stages that run when no other does: killed processes and a browser time out when other
// stages use all cores.
const alone = 2

// everything has all packages: the wildcard ./... leaves out testdata.
const everything = `./... ./testdata/fakes/... ./testdata/providers/... ./testdata/platforms/... ./testdata/receiver ` +
	`./testdata/importer`

// packages lists the packages of the unit tests. Those that take longest come first, so that none of them runs alone at
// the end. The end-to-end tests have a stage of their own. Those of the local AWS run in make test-all alone.
const packages = `$(go list ./pkg/media/compose ./infra/measure/metered ./infra/app/stack ` +
	`./pkg/adapter/platform ./pkg/area ` + everything +
	` | grep -v '/infra/\(verify/\(e2e\|chaos\)\|local/system\)$')`

// longTests are end-to-end tests of make test-all alone: they compose many videos or posts, install tools, or wait. The
// others have an item of each kind.
const longTests = "^Test(AVideoHasTheIntroOfItsBrand|FinishedMedia|ItemsAreCorrected|ItemsAreRetold|" +
	"LiveContent|QuickStartWithALateReceiver|SamplesOfTheQuickStart|ShortVideosOfALongOne|" +
	"SocialAccountsAreConnectedAtThePlatforms|TheProgramOfTheGuideToExperiments)$"

// dateless are packages of pkg whose tests read neither the clock nor the zone of the machine, but for logs, deadlines,
// pauses and the age of a signature: a copy of package time that logs its callers has shown it. The stage calendar
// leaves them out.
const dateless = "media|house|craft/guard|httpapi/schema|service/(api|docs)"

// timeless are tests that read neither the clock nor the zone, in packages with others that do. They take two thirds of
// the time of these packages.
const timeless = "^Test((Conformance|Bounds)On(Bluesky|LinkedIn|Pinterest|TikTok|VK|X)|LongTextsAreReadInTime|" +
	"FeedsThatCannotBeRead|RowsOverTheLimit|RowsThatAreTooLarge|TheTimeGrowsWithTheLength|WorstCaseFeeds)$"

// Each of these takes half an hour of CPU: media of every theme, kind, script and brand, and a shop's year.
const (
	frames = "^TestFramesOfEveryKind$"
	year   = "^TestAYearOfPrices$"
)

func shell(script string) []string { return []string{"sh", "-c", script} }

// lines runs commands one after the other, until one fails.
func lines(commands ...string) []string { return shell("set -e\n" + strings.Join(commands, "\n")) }

// generated has what must be committed as it would be generated now.
const generated = "pkg/service/api/examples.json clients/openapi.json clients/openapi.yaml " +
	"pkg/auth/authorizer/scopes_gen.go pkg/media/compose/script/glyphs.bin"

// isGenerated generates these files, and fails if they were others before.
const isGenerated = `files="` + generated + `"; was=$(cat $files | cksum); go generate ./...
[ "$was" = "$(cat $files | cksum)" ] || {
	echo "The generated files were out of date. They are not any more: commit $files."; exit 1; }`

// linted lints the OpenAPI document.
const linted = `REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true .tools/node/node_modules/.bin/redocly lint ` +
	`--config infra/tools/redocly.yaml clients/openapi.json`

// The race detector needs cgo. The packages with most goroutines run under it: not their slowest tests, which are
// sweeps over every step, or of large answers. Of compose there are the videos of two tests, one of which is canceled,
// since ffmpeg takes the time of all others; of simulate there are a few seeds.
const (
	racing = "./pkg/task/... ./pkg/area/webhook ./pkg/httpapi/... ./pkg/store/... ./infra/local/standalone"
	slow   = "^Test(ADeathAtAnyStepOf(AnOutage|AnUrgentAttempt)LosesNothing|ALargeAnswerIsKeptWhole|" +
		"ALateRunWithALargeAnswerLeavesNothing|AnAnswerThatCannotBeKeptHasNoEffect|APageOfLargeItemsIsShort|" +
		"ASlowReceiverKeepsFewAttemptsWaiting)$"
	videos = "^Test(TheVoiceDecidesTheCut|ACompositionEndsWhenItIsCanceled)$"
)

// SAM carries these end-to-end tests, but for answers of the gateway's own: docs/tests.md says what it does otherwise.
const (
	samTests = "^Test(QuickStart|MainJob|ABatchOfContent|ChangesOfContent|Events|KeyLifeCycle|Idempotency|Factories|" +
		"Catalog|Studio|RateLimit|Refusals)$"
	samSkips = "^TestRefusals$/^(no_key|another_scheme|garbage|mistyped|unknown_key|unknown_path_outside)"
)

// judged is the table of what the libraries of X and Bluesky find in texts, with which tests compare the code.
const judged = "pkg/adapter/platform/testdata/judges.jsonl"

// ofClients runs tests of the clients with tools that only they need.
func ofClients(tests string) []string {
	return []string{"go", "test", "-json", "-vet=off", "-count=1", "-timeout", "10m", "-tags", "clients",
		"-run", "^Test(" + tests + ")$", "./clients/internal/verify"}
}

// stages are all stages. Those of make test tell a right change from a wrong one; docs/tests.md says what each of the
// others adds.
var stages = []stage{
	// Lanes would compile the same packages at the same time. It compiles what both lanes need, and packages whose
	// tests no stage of make test runs.
	{name: "compile", first: true, command: shell("go list -export -test ./infra/verify/e2e ./infra/verify/chaos " +
		"./infra/local/system >/dev/null")},
	{name: "units", command: shell("go test -json -vet=off -p 3 -timeout 25m " + packages)},
	{name: "e2e", lane: 1, command: []string{"go", "test", "-json", "-vet=off", "-count=1", "-parallel", "8", "-timeout", "25m",
		"-skip", longTests, "./infra/verify/e2e"}},

	{name: "generated", check: true, command: lines(isGenerated)},
	{name: "vet", check: true, command: lines("go vet "+everything,
		"go vet -tags deployed ./infra/verify/e2e", "go vet -tags long ./pkg/media/compose ./pkg/media/compose/text",
		"go vet -tags clients ./clients/internal/verify", "go vet -tags n8n ./clients/internal/verify",
		"go vet -tags judges ./infra/app/stack")},
	{name: "staticcheck", check: true, command: lines("go tool staticcheck "+everything,
		"go tool staticcheck -tags deployed ./infra/verify/e2e")},
	{name: "document", check: true, lane: 1, command: lines(linted)},
	{name: "engine", check: true, lane: 1, needs: "java", command: shell(".local/bin/local test-engine")},
	{name: "compile-clients", check: true, lane: 1, tools: "check", command: ofClients("TheClientsCompile")},
	{name: "collection", check: true, lane: 1, tools: "check", command: ofClients("Postman")},
	{name: "lint-n8n", check: true, lane: 1, tools: "check", command: ofClients("N8nPackage")},

	{name: "stacks", long: true, lane: 1, tools: "all", command: lines(linted, "go run ./infra/verify/judge",
		"go test -tags judges -vet=off -count=1 -run SAM ./infra/app/stack",
		".tools/spectral-node/node_modules/.bin/spectral lint --ruleset infra/tools/spectral/ruleset.yaml "+
			"--fail-severity hint clients/openapi.json")},
	{name: "vulnerabilities", long: true, command: shell("go run ./infra/verify/supply vulnerabilities")},
	{name: "long", long: true, command: []string{"go", "test", "-json", "-vet=off", "-count=1", "-parallel", "4",
		"-timeout", "40m", "-run", longTests, "./infra/verify/e2e"}},
	{name: "media", long: true, command: []string{"go", "test", "-json", "-tags", "long", "-vet=off", "-count=1",
		"-run", "^Test(ADraftOfTwentySecondsTakesLittleCPU|ALongVideoFitsThePlatforms|AMusicClipFitsThePlatforms)$",
		"./pkg/media/compose"}},
	{name: "year", long: true, command: []string{"go", "test", "-json", "-vet=off", "-timeout", "120m",
		"-run", year, "./pkg/area/content"}, env: []string{"BREADTH=all"}},
	{name: "sweeps", long: true, command: []string{"go", "test", "-json", "-vet=off", "-timeout", "60m",
		"-skip", frames + "|" + year + "|^TestSeeds$", "./pkg/area", "./pkg/area/webhook", "./pkg/area/content",
		"./pkg/record", "./infra/verify/simulate", "./clients/sandbox/internal/sketch",
		"./infra/measure/metered", "./pkg/adapter/platform", "./pkg/media/compose"},
		env: []string{"BREADTH=all"}},
	{name: "frames", long: true, command: []string{"go", "test", "-json", "-vet=off", "-timeout", "120m",
		"-run", frames, "./pkg/media/compose"}, env: []string{"BREADTH=all"}},
	{name: "local", long: true, lane: 1, command: shell("go test -json -vet=off -count=1 -timeout 60m " +
		"./infra/local/system")},
	{name: "simulation", long: true, command: shell("go test -json -vet=off -timeout 0 -run TestSeeds " +
		"./infra/verify/simulate"), env: []string{"SEEDS=2000"}},
	{name: "fuzz", long: true, command: shell("go test -json -vet=off -timeout 0 ./infra/verify/fuzz"),
		env: []string{"FUZZ_REQUESTS=1000000", "FUZZ_SEED=2"}},
	{name: "calendar", long: true, command: shell("go run ./infra/verify/suite calendar " +
		"-skip '" + longTests + "|" + timeless + "' " +
		"$(go list ./pkg/... | grep -Ev '/pkg/(" + dateless + ")') ./infra/verify/e2e")},
	{name: "clients", long: true, lane: 1, tools: "all", command: lines(
		"go test -json -vet=off -count=1 -timeout 60m -tags clients ./clients/internal/verify",
		"cd clients/go && go vet ./..."), env: []string{"BREADTH=all"}},
	{name: "n8n", long: true, lane: 1, tools: "n8n", command: shell(
		"go test -json -vet=off -count=1 -timeout 10m -tags n8n ./clients/internal/verify")},
	{name: "race", long: true, needs: "cc", env: []string{"CGO_ENABLED=1"}, command: lines(
		"go test -json -race -vet=off -skip '"+slow+"' "+racing,
		"go test -json -race -vet=off -run '"+videos+"' ./pkg/media/compose",
		"SEEDS=5 go test -json -race -vet=off -run '^TestSeeds$' ./infra/verify/simulate")},
	{name: "engine-all", long: true, lane: 1, needs: "java", command: shell(".local/bin/local test-engine all")},
	{name: "deployed", long: true, lane: alone, command: shell("go test -json -tags deployed -vet=off -count=1 -p 1 " +
		"-parallel 3 -timeout 60m ./infra/verify/e2e ./infra/verify/chaos")},
	{name: "sam", long: true, lane: 1, needs: "docker", env: []string{"SAM=1"}, command: shell(
		"docker info >/dev/null || { echo 'Not run: no Docker engine answers.'; exit 0; }; go test -json -tags deployed -count=1 " +
			"-run '" + samTests + "' -skip '" + samSkips + "' ./infra/verify/e2e")},
	{name: "console", long: true, lane: alone, needs: "chromium", command: lines(
		"(cd infra/verify/console/browser && npm ci --loglevel=error)",
		"go test -json -tags console -count=1 -timeout 60m -run InChromium ./infra/verify/console")},
	{name: "explorer", long: true, lane: 1, needs: "chromium", command: lines(
		"(cd pkg/service/docs/browser && npm ci --loglevel=error)",
		"go test -json -tags explorer -count=1 -run TestExplorerInChromium ./pkg/service/docs")},
	{name: "texts", long: true, lane: 1, needs: "node", tools: "texts", command: lines(
		"node infra/tools/texts/judge.mjs .tools/texts-node > build/judges.jsonl",
		"cmp build/judges.jsonl "+judged+" || { echo 'The table is out of date: judge it, and copy it.'; exit 1; }")},
	{name: "emoji", long: true, lane: 1, tools: "emoji", command: shell("go test -json -tags long -vet=off -count=1 " +
		"-run '^TestEmojiLookAsSkiaDrawsThem$' ./pkg/media/compose/text")},
	{name: "agents", long: true, lane: 1, tools: "mcp", command: lines(
		"go test -json -tags inspector -vet=off -count=1 -run '^Test(TheInspectorFindsNoFault|ScriptedAgentTasks)$' "+
			"./infra/verify/e2e",
		"go test -json -tags inspector -vet=off -count=1 -run '^TestOfficialClients' ./infra/verify/console")},
}

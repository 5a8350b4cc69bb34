package main

// stage is one command of the suite.
type stage struct {
	name string
	// lane is the row of stages that it belongs to: the stages of a lane run one after the other, and the lanes at the
	// same time.
	lane int
	// first stages run before the lanes begin.
	first bool
	// needs is a program without which the stage does not run, or empty.
	needs string
	// long stages are those of make test-all alone, and check stages those of make check.
	long, check bool
	command     []string
	env         []string
}

// everything has all packages: the wildcard ./... leaves out testdata.
const everything = `./... ./testdata/fakes/... ./testdata/providers/... ./testdata/platforms/... ./testdata/receiver ` +
	`./testdata/importer`

// packages lists the packages of the unit tests. Those that take longest come first, so that none of them runs alone at
// the end. The end-to-end tests have a stage of their own. Those of the local AWS run in make test-all alone.
const packages = `$(go list ./pkg/media/compose ./infra/measure/metered ./infra/app/stack ` + everything +
	` | grep -v '/infra/\(verify/\(e2e\|chaos\)\|local/system\)$')`

// longTests are end-to-end tests of make test-all alone: they compose many videos or posts, install tools, or wait. The
// others have an item of each kind.
const longTests = "^Test(AVideoHasTheIntroOfItsBrand|FinishedMedia|ItemsAreCorrected|ItemsAreRetold|" +
	"LiveContent|QuickStartWithALateReceiver|SamplesOfTheQuickStart|ShortVideosOfALongOne|" +
	"SocialAccountsAreConnectedAtThePlatforms|TheProgramOfTheGuideToExperiments)$"

func shell(script string) []string { return []string{"sh", "-c", script} }

func target(name string) []string { return []string{"make", "--no-print-directory", name} }

// ofClients runs tests of the clients with tools that only they need.
func ofClients(tests string) []string {
	return []string{"go", "test", "-json", "-vet=off", "-count=1", "-timeout", "10m", "-tags", "clients",
		"-run", "^Test(" + tests + ")$", "./clients/internal/verify"}
}

// stages are all stages. Those of make test tell a right change from a wrong one; docs/tests.md says what each of the
// others adds.
var stages = []stage{
	// Lanes would compile the same packages at the same time.
	{name: "compile", first: true, command: shell("go list -export -test " + everything + " >/dev/null")},
	{name: "units", command: shell("go test -json -vet=off -p 3 -timeout 25m " + packages)},
	{name: "e2e", lane: 1, command: []string{"go", "test", "-json", "-vet=off", "-count=1", "-parallel", "8", "-timeout", "25m",
		"-skip", longTests, "./infra/verify/e2e"}},

	{name: "generated", check: true, command: target("generate-check")},
	{name: "vet", check: true, command: target("vet")},
	{name: "staticcheck", check: true, command: target("staticcheck")},
	{name: "document", check: true, lane: 1, command: target("lint-document")},
	{name: "engine", check: true, lane: 1, needs: "java", command: target("test-engine")},
	{name: "compile-clients", check: true, lane: 1, command: ofClients("TheClientsCompile")},
	{name: "collection", check: true, lane: 1, command: ofClients("Postman")},
	{name: "lint-n8n", check: true, lane: 1, command: ofClients("N8nPackage")},

	{name: "stacks", long: true, command: target("lint-stacks")},
	{name: "vulnerabilities", long: true, command: target("vulnerabilities")},
	{name: "long", long: true, command: []string{"go", "test", "-json", "-vet=off", "-count=1", "-parallel", "4",
		"-timeout", "40m", "-run", longTests, "./infra/verify/e2e"}},
	{name: "media", long: true, command: []string{"go", "test", "-json", "-tags", "long", "-vet=off", "-count=1",
		"-run", "^Test(ADraftOfTwentySecondsTakesLittleCPU|ALongVideoFitsThePlatforms|AMusicClipFitsThePlatforms)$",
		"./pkg/media/compose"}},
	{name: "sweeps", long: true, command: []string{"go", "test", "-json", "-vet=off", "-count=1", "-timeout", "25m",
		"./pkg/area/webhook", "./pkg/area/crm", "./pkg/area/content", "./pkg/area/transfer", "./pkg/record",
		"./infra/verify/simulate/backlog", "./clients/sandbox/internal/sketch", "./infra/measure/metered",
		"./clients/cli", "./pkg/adapter/platform", "./pkg/media/compose"},
		env: []string{"BREADTH=all"}},
	{name: "local", long: true, command: shell("go test -json -vet=off -count=1 -timeout 25m ./infra/local/system")},
	{name: "simulation", long: true, command: shell("go test -json -vet=off -count=1 -timeout 0 -run TestSeeds " +
		"./infra/verify/simulate"), env: []string{"SEEDS=2000"}},
	{name: "fuzz", long: true, command: shell("go test -json -vet=off -count=1 -timeout 0 ./infra/verify/fuzz"),
		env: []string{"FUZZ_REQUESTS=1000000", "FUZZ_SEED=2"}},
	{name: "calendar", long: true, command: shell("go run ./infra/verify/calendar -skip '" + longTests + "' " +
		"$(go list ./pkg/... | grep -v '/pkg/\\(media\\|house\\)') ./infra/verify/e2e")},
	{name: "clients", long: true, command: target("test-clients")},
	{name: "n8n", long: true, command: target("test-n8n")},
	{name: "race", long: true, needs: "cc", command: target("test-race")},
	{name: "engine-all", long: true, needs: "java", command: append(target("test-engine"), "ENGINE=all")},
	{name: "deployed", long: true, command: target("test-deployed")},
	{name: "sam", long: true, needs: "docker", command: target("test-sam")},
	{name: "console", long: true, needs: "chromium", command: target("test-console")},
	{name: "explorer", long: true, needs: "chromium", command: target("test-explorer")},
	{name: "texts", long: true, needs: "node", command: target("test-texts")},
	{name: "emoji", long: true, command: target("test-emoji")},
	{name: "agents", long: true, command: target("test-mcp")},
}

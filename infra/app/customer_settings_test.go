package app_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/cloud/topology"
)

func read(values map[string]any) (customer.Settings, error) {
	all := map[string]any{"customers": map[string]any{
		"acme": map[string]any{"account": "111122223333", "region": "eu-central-1",
			"alarmEmail": "operations@acme.example"},
		"local":  map[string]any{"region": "us-west-2", "stage": "local"},
		"globex": map[string]any{"account": "444455556666", "region": "us-east-1", "logRetentionDays": 365},
	}}
	maps.Copy(all, values)
	return customer.Read(func(key string) any { return all[key] })
}

func TestSettingsOfACustomer(t *testing.T) {
	s, err := read(map[string]any{"customer": "acme"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Name() != "acme-prod-eu-central-1" || s.Stage != "prod" || s.Arch != "arm64" || s.LogRetentionDays != 90 ||
		s.AlarmEmail != "operations@acme.example" || s.Assets != filepath.Join("build", "arm64") ||
		s.AllowLoopbackWebhooks {
		t.Errorf("got %+v", s)
	}
	s, err = read(map[string]any{"customer": "acme", "region": "us-west-2", "arch": "x86_64", "stage": "beta"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Name() != "acme-beta-us-west-2" || s.Arch != "x86_64" || s.Stage != "beta" ||
		s.Assets != filepath.Join("build", "x86_64") {
		t.Errorf("values on the command line do not win: %+v", s)
	}
}

func TestSettingsGivenAsText(t *testing.T) {
	// The CLI passes the values of -c as text.
	s, err := customer.Read(func(key string) any {
		return map[string]any{
			"customers": `{"local": {"region": "eu-central-1", "stage": "local"}}`,
			"customer":  "local", "allowLoopbackWebhooks": "true",
		}[key]
	})
	if err != nil || !s.AllowLoopbackWebhooks || s.Region != "eu-central-1" {
		t.Errorf("got %+v, %v", s, err)
	}
}

// -c takes every setting, and refuses a value that is none.
func TestSettingsOnTheCommandLine(t *testing.T) {
	s, err := read(map[string]any{"customer": "acme", "accountConcurrency": "1500", "quiet": "true",
		"signInSender": "no-reply@acme.example", "platforms": "threads,bluesky",
		"warmThroughput": `{"reads": 20000, "writes": 8000}`})
	if err != nil || s.AccountConcurrency != 1500 || !s.Quiet || s.SignInSender != "no-reply@acme.example" ||
		len(s.Platforms) != 2 || *s.WarmThroughput != (customer.Throughput{Reads: 20_000, Writes: 8_000}) {
		t.Errorf("%+v, %v", s, err)
	}
	for name, of := range map[string]struct{ value, says string }{
		"accountConcurrency": {"10", "a stack takes up to"},
		"quiet":              {"sometimes", "by -c: quiet must be true or false"},
		"canaryMinutes":      {"few", "by -c: canaryMinutes must be a number"},
		"warmThroughput":     {`{"reads": 20000, "writes": 100}`, "at least the 12000 reads and the 4000 writes"},
	} {
		if _, err := read(map[string]any{"customer": "acme", name: of.value}); err == nil ||
			!strings.Contains(err.Error(), of.says) {
			t.Errorf("%s %s: %v, want %q", name, of.value, err, of.says)
		}
	}
}

func TestProviders(t *testing.T) {
	s, err := read(map[string]any{"customer": "acme"})
	if err != nil || len(s.Providers) != 0 || s.ProviderEndpoint != "" {
		t.Errorf("by default: %v at %q, %v", s.Providers, s.ProviderEndpoint, err)
	}
	s, err = read(map[string]any{"customer": "local", "providers": "fal,polly",
		"providerEndpoint": "http://127.0.0.1:9000"})
	if err != nil || strings.Join(s.Providers, "+") != "fal+polly" || s.ProviderEndpoint != "http://127.0.0.1:9000" {
		t.Errorf("on the command line: %v at %q, %v", s.Providers, s.ProviderEndpoint, err)
	}
	s, err = read(map[string]any{"customer": "acme",
		"customers": map[string]any{"acme": map[string]any{"account": "111122223333", "region": "eu-central-1",
			"providers": []string{"heygen"}}}})
	if err != nil || strings.Join(s.Providers, "+") != "heygen" {
		t.Errorf("in cdk.json: %v, %v", s.Providers, err)
	}
}

// Customers have the platforms of their entries beside those that all have, and the local system has
// all.
func TestPlatforms(t *testing.T) {
	s, err := read(map[string]any{"customer": "acme",
		"customers": map[string]any{"acme": map[string]any{"account": "111122223333", "region": "eu-central-1",
			"platforms": []string{"x", "bluesky"}, "xDailyCents": 600}}})
	if err != nil || strings.Join(s.PlatformList(), "+") != "x+bluesky" || s.XDailyCents != 600 {
		t.Errorf("%v, %v", s.PlatformList(), err)
	}
	if s, err = read(map[string]any{"customer": "local"}); err != nil || len(s.PlatformList()) != 6 {
		t.Errorf("the local system has %v, %v", s.PlatformList(), err)
	}
}

func TestRefusedSettings(t *testing.T) {
	for name, c := range map[string]struct {
		values map[string]any
		says   string
	}{
		"no customer": {nil, "add -c customer=<name>; cdk.json knows acme, globex, local"},
		"unknown customer": {map[string]any{"customer": "initech"},
			`no customer "initech": cdk.json knows acme, globex, local`},
		"a name as of the roles that deliver assumes": {map[string]any{"customer": "content-automation-acme",
			"customers": map[string]any{
				"content-automation-acme": map[string]any{"account": "111122223333", "region": "eu-central-1"}}},
			"begins with content-automation"},
		"the beginning of these names": {map[string]any{"customer": "content-automation", "customers": map[string]any{
			"content-automation": map[string]any{"account": "111122223333", "region": "eu-central-1"}}},
			"begins with content-automation"},
		"no region": {map[string]any{"customer": "acme", "region": "europe"},
			`"europe" is not an AWS region`},
		"a stage with a hyphen": {map[string]any{"customer": "acme", "stage": "eu-prod"}, "the stage"},
		"the local stage": {map[string]any{"customer": "acme", "stage": "local"},
			"the customer acme cannot have the stage local"},
		"the local customer for good": {map[string]any{"customer": "local", "stage": "prod"},
			"the customer local cannot have the stage prod"},
		"no account": {map[string]any{"customer": "acme",
			"customers": map[string]any{"acme": map[string]any{"region": "eu-central-1"}}},
			`the account "" of customer acme is not an AWS account id`},
		"half an account": {map[string]any{"customer": "acme", "account": "1111"},
			`the account "1111" of customer acme`},
		"a boundary": {map[string]any{"customer": "acme", "permissionsBoundary": "Bound"},
			`the permissionsBoundary "Bound" of customer acme`},
		"unknown and mistyped members": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": 111122223333, "regoin": "eu-central-1", "region": "eu-central-1",
				"logRetentionDays": "30", "providers": "fal", "allowLoopbackWebhooks": 1}}},
			"the settings of customer acme in cdk.json: account must be text, not a JSON number, " +
				"allowLoopbackWebhooks must be true or false, not a JSON number, " +
				"logRetentionDays must be a number, not a JSON string, providers must be a list, not a JSON string, " +
				"there is no setting regoin; the settings are account,"},
		"an unknown member of a domain": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1",
				"domains": map[string]any{"eu-central-1": map[string]any{"nam": "x"}}}}},
			`customer acme in cdk.json: domains cannot be read (unknown field "nam")`},
		"an entry that is no object": {map[string]any{"customer": "acme", "customers": map[string]any{"acme": 1}},
			"the entry of customer acme in cdk.json is not an object"},
		"bad stage": {map[string]any{"customer": "acme", "stage": "Prod!"}, "the stage"},
		"long names": {map[string]any{"customer": "a-customer-with-quite-a-name", "stage": "productionlike",
			"customers": map[string]any{
				"a-customer-with-quite-a-name": map[string]any{"account": "444455556666", "region": "ap-southeast-1"}}},
			"are too long"},
		"a reserved word": {map[string]any{"customer": "lawson", "customers": map[string]any{
			"lawson": map[string]any{"account": "444455556666", "region": "eu-west-1"}}}, `contain "aws", which Cognito refuses`},
		"a long domain of the sign-in": {map[string]any{"customer": "northwind-industries-emea", "customers": map[string]any{
			"northwind-industries-emea": map[string]any{"account": "444455556666", "region": "ap-southeast-1"}}},
			"the domain of the sign-in pages content-automation-northwind-industries-emea-prod-ap-southeast-1 would have more " +
				"than 63 characters; shorten them by 1"},
		"a sender without a domain": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "signInSender": "acme"}}},
			"signInSender is the address of a domain"},
		"e-mails without a domain of the API": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1",
				"mailSender": "no-reply@acme.example"}}},
			"needs a domain of the API in eu-central-1"},
		"more stacks than an account takes": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "accountStacks": 20}}},
			"a stack takes up to 62 concurrent functions, and the account has 50 for each of 20 stacks"},
		"a negative quota": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "accountConcurrency": -1}}},
			"accountConcurrency and accountStacks are numbers"},
		"a public name without a truststore": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "domains": map[string]any{
				"eu-central-1": map[string]any{"name": "api.acme.example", "hostedZoneId": "Z0123456789ABCDEFGHIJ",
					"publicName": "public.acme.example"}}}}},
			"domains.eu-central-1.publicName is beside a name with a truststore"},
		"one restored table": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "restoredTables": map[string]any{
				"acme-prod-eu-central-1": map[string]any{"state": "acme-state-2"}}}}},
			`restoredTables.acme-prod-eu-central-1 has the names of two restored tables, state and audit, not "acme-state-2"`},
		"restored tables of another customer": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "restoredTables": map[string]any{
				"globex-prod-us-east-1": map[string]any{"state": "s2", "audit": "a2"}}}}},
			`restoredTables names stacks of acme, such as acme-prod-eu-central-1, not "globex-prod-us-east-1"`},
		"a long name of a rule": {map[string]any{"customer": "northwind-industries-emea", "stage": "production",
			"customers": map[string]any{
				"northwind-industries-emea": map[string]any{"account": "444455556666", "region": "eu-west-1"}}},
			"the sampling rule of X-Ray northwind-industries-emea-production-r would have more than 32 characters; " +
				"shorten them by 6"},
		"a long name of a vault": {map[string]any{"customer": "northwind-industries-emea",
			"customers": map[string]any{
				"northwind-industries-emea": map[string]any{"account": "444455556666", "region": "us-isob-southcentral-1",
					"backup": map[string]any{"keepDays": 30}}}},
			"the vault and plan of backups northwind-industries-emea-prod-us-isob-southcentral-1 would have more than " +
				"50 characters; shorten them by 3"},
		"bad architecture": {map[string]any{"customer": "acme", "arch": "mips"}, "neither arm64 nor x86_64"},
		"loopback deployed": {map[string]any{"customer": "acme", "allowLoopbackWebhooks": "true"},
			"for the stage local alone"},
		"loopback as a bool": {map[string]any{"customer": "acme", "allowLoopbackWebhooks": true},
			"for the stage local alone"},
		"loopback as a word": {map[string]any{"customer": "acme", "allowLoopbackWebhooks": "perhaps"},
			"true or false"},
		"fakes deployed": {map[string]any{"customer": "acme", "providerEndpoint": "http://127.0.0.1:9000"},
			"for the stage local alone"},
		"fakes elsewhere": {map[string]any{"customer": "local", "providerEndpoint": "https://fakes.example"},
			"is not http://127.0.0.1:<port>"},
		"an unheard-of provider": {map[string]any{"customer": "acme", "providers": "fal,midjourney"},
			`"midjourney": providers are some of bedrock, elevenlabs, fal`},
		"a provider twice": {map[string]any{"customer": "acme", "providers": "fal,polly,fal"},
			"fal is named twice"},
		"an unheard-of platform": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1",
				"platforms": []string{"x", "myspace"}}}}, `facebook, linkedin, threads, bluesky, pinterest, x, which ` +
			`customers may add, not "myspace"`},
		"a platform that everyone has": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1",
				"platforms": []string{"vk"}}}}, `not "vk"`},
		"a platform twice": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1",
				"platforms": []string{"x", "x"}}}}, "x is named twice"},
		"too little for a thread on X": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "xDailyCents": 599}}},
			"xDailyCents is 0, for the default, or 600 or more"},
		"a guardrail without a version": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "providers": []string{"bedrock"},
				"guardrail": "gr4d7k2m9xq1"}}}, "is not an id and a version"},
		"a guardrail without its provider": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "providers": []string{"fal"},
				"guardrail": "gr4d7k2m9xq1:DRAFT"}}}, "guardrail needs the provider bedrock"},
		"a negative budget": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "alarmEmail": "a@acme.example",
				"monthlyBudget": -1}}}, "a number of dollars, not -1"},
		"a budget that no one hears of": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "monthlyBudget": 500}}},
			"monthlyBudget needs alarmEmail"},
		"a limit as a word": {map[string]any{"customer": "acme", "keylessLimit": "few"}, "keylessLimit must be a number"},
		"a limit too low":   {map[string]any{"customer": "acme", "keylessLimit": "9"}, "is 10 or more, not 9"},
		"uploads below none": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "youtubeDailyUploads": -1}}},
			"youtubeDailyUploads is the number"},
		"customers not a map": {map[string]any{"customer": "acme", "customers": "acme"},
			"not a map of customers"},
		"retention": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1", "logRetentionDays": 3}}},
			"logRetentionDays"},
		"half a domain": {map[string]any{"customer": "acme", "customers": map[string]any{
			"acme": map[string]any{"account": "111122223333", "region": "eu-central-1",
				"domains": map[string]any{"eu-central-1": map[string]any{"name": "api.acme.example"}}}}},
			"domains.eu-central-1 needs a certificateArn, or a hostedZoneId"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.values)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want it to say %q", err, c.says)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than a sentence", err)
			}
		})
	}
}

func TestBuiltNamesWhatIsMissing(t *testing.T) {
	s := customer.Settings{Assets: filepath.Join(t.TempDir(), "x86_64"), Arch: "x86_64"}
	if err := s.Built(); err == nil || !strings.Contains(err.Error(), "`make build ARCH=x86_64`") {
		t.Fatalf("got %v", err)
	}
	for _, program := range topology.Programs()[1:] {
		writeBootstrap(t, s.Assets, program)
	}
	missing := topology.Programs()[0]
	if err := s.Built(); err == nil || !strings.Contains(err.Error(), "no build of "+missing+":") {
		t.Fatalf("got %v, want it to name %s", err, missing)
	}
	writeBootstrap(t, s.Assets, missing)
	if err := s.Built(); err == nil || !strings.Contains(err.Error(), "no bin/ffmpeg") {
		t.Fatalf("got %v, want it to name ffmpeg", err)
	}
	s.Stage = customer.StageLocal
	if err := s.Built(); err != nil {
		t.Fatalf("the local system needs no layer: %v", err)
	}
	s.Stage = "prod"
	programs := filepath.Join(s.Layer(), "bin")
	if err := os.MkdirAll(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(programs, "ffmpeg"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Built(); err == nil || !strings.Contains(err.Error(), "no lib/libc2pa_c.so") {
		t.Fatalf("got %v, want it to name the library", err)
	}
	library := filepath.Join(s.Layer(), "lib")
	if err := errors.Join(os.MkdirAll(library, 0o755), os.WriteFile(filepath.Join(library, "libc2pa_c.so"), nil,
		0o755)); err != nil {
		t.Fatal(err)
	}
	if err := s.Built(); err != nil {
		t.Fatal(err)
	}
}

func writeBootstrap(t testing.TB, dir, program string) {
	t.Helper()
	folder := filepath.Join(dir, program)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "bootstrap"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
}

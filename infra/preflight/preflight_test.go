package preflight

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/customer"
)

// account is a double of an AWS account.
type account struct {
	id                string
	outputs           map[string]map[string]string
	limit, unreserved int
	models            map[string]string // why they cannot be called
	lacks             map[string]bool   // models
	secret            string
	certificate       string
	pending           []string
	role              string
	err               error // of Concurrency
	noCredentials     error
	asked             int
}

func (a *account) ID(context.Context) (string, error) { return a.id, a.noCredentials }

func (a *account) Outputs(_ context.Context, stack string) (map[string]string, error) {
	a.asked++
	if o, ok := a.outputs[stack]; ok {
		return o, nil
	}
	return nil, ErrMissing
}

func (a *account) Concurrency(context.Context) (int, int, error) { return a.limit, a.unreserved, a.err }

func (a *account) Model(_ context.Context, id string) (string, error) {
	if a.lacks[id] {
		return "", ErrMissing
	}
	return a.models[id], nil
}

func (a *account) Secret(context.Context, string) (string, error) { return a.secret, nil }

func (a *account) Certificate(context.Context, string) (string, error) {
	if a.certificate == "" {
		return "", ErrMissing
	}
	return a.certificate, nil
}

func (a *account) Pending(context.Context, string) ([]string, error) { return a.pending, nil }
func (a *account) LogRole(context.Context) (string, error)           { return a.role, nil }

// ready is an account in which acme is deployed, and nothing is wrong.
func ready() *account {
	return &account{
		id: "111122223333", limit: 1000, unreserved: 800, certificate: "ISSUED", role: "arn:role",
		secret: `{"fal": {"key": "f"}, "elevenlabs": {"key": "e"}}`,
		outputs: map[string]map[string]string{
			"CDKToolkit":                  {"BootstrapVersion": "28"},
			"acme-prod-eu-central-1-data": {"ProviderSecretArn": "arn:secret", "AlarmTopicArn": "arn:topic", "EgressAddresses": "203.0.113.7,203.0.113.8"},
			"acme-prod-eu-central-1-api":  {"ApiId": "a"},
		},
	}
}

func acme() customer.Settings {
	return customer.Settings{
		Customer: "acme", Stage: "prod", Region: "eu-central-1", Account: "111122223333", AlarmEmail: "ops@acme.example",
		Providers: []string{"bedrock", "polly", "fal", "elevenlabs"},
		Isolation: customer.Isolation{Network: &customer.Network{CIDR: "10.20.0.0/16", Zones: 2}},
		Domains:   map[string]customer.Domain{"eu-central-1": {Name: "api.acme.example", CertificateArn: "arn:certificate"}},
	}
}

func TestWhatIsFoundAndWhatToDo(t *testing.T) {
	fresh := func(a *account) {
		a.outputs = map[string]map[string]string{"CDKToolkit": {"BootstrapVersion": "6"}}
		a.unreserved = 1000
	}
	for name, c := range map[string]struct {
		change func(*account)
		of     func(*customer.Settings)
		check  string
		state  State
		says   string
	}{
		"another account":            {func(a *account) { a.id = "444455556666" }, nil, "credentials", Failed, "for the account 444455556666, and acme has the account 111122223333"},
		"no credentials":             {func(a *account) { a.noCredentials = errors.New("expired") }, nil, "credentials", Failed, "sign in"},
		"not bootstrapped":           {func(a *account) { delete(a.outputs, "CDKToolkit") }, nil, "bootstrap", Failed, "`make bootstrap`"},
		"an old bootstrap":           {func(a *account) { a.outputs["CDKToolkit"]["BootstrapVersion"] = "5" }, nil, "bootstrap", Failed, `version "5", and 6`},
		"a new account":              {func(a *account) { fresh(a); a.limit, a.unreserved = 10, 10 }, nil, "concurrency", Failed, "request at least"},
		"little left for requests":   {func(a *account) { fresh(a); a.limit, a.unreserved = 400, 400 }, nil, "concurrency", Warning, "Service Quotas"},
		"reservations of others":     {func(a *account) { fresh(a); a.limit, a.unreserved = 1000, 250 }, nil, "concurrency", Failed, "of which 250 are not reserved"},
		"its own reservation":        {func(a *account) { a.limit, a.unreserved = 1000, 600 }, nil, "concurrency", OK, "limit 1000"},
		"no permission":              {func(a *account) { a.err = errors.New("AccessDenied") }, nil, "concurrency", Failed, "AccessDenied. Check the permissions"},
		"an AWS without it":          {func(a *account) { a.err = ErrUnsupported }, nil, "concurrency", Skipped, "cannot answer"},
		"a model without agreement":  {func(a *account) { a.models = map[string]string{"amazon.nova-lite-v1:0": "the agreement is PENDING"} }, nil, "models", Failed, "amazon.nova-lite-v1:0 (the agreement is PENDING)"},
		"a model that is not there":  {func(a *account) { a.lacks = map[string]bool{"openai.gpt-oss-120b-1:0": true} }, nil, "models", Failed, "openai.gpt-oss-120b-1:0 (not in eu-central-1)"},
		"a model of other regions":   {func(a *account) { a.lacks = map[string]bool{"stability.stable-image-core-v1:1": true} }, nil, "models", OK, "models of Bedrock"},
		"without bedrock":            {nil, func(s *customer.Settings) { s.Providers = []string{"fal"} }, "models", Skipped, "do not include bedrock"},
		"an empty secret":            {func(a *account) { a.secret = "{}" }, nil, "provider credentials", Warning, "those of fal, elevenlabs are missing"},
		"a secret before deployment": {fresh, nil, "provider credentials", Skipped, "after the first deployment"},
		"no provider with a secret":  {nil, func(s *customer.Settings) { s.Providers = []string{"polly"} }, "provider credentials", Skipped, "needs a credential"},
		"a pending certificate":      {func(a *account) { a.certificate = "PENDING_VALIDATION" }, nil, "certificate", Failed, "add the validation records"},
		"no certificate":             {func(a *account) { a.certificate = "" }, nil, "certificate", Failed, "request one for api.acme.example"},
		"a new certificate": {nil, func(s *customer.Settings) {
			s.Domains = map[string]customer.Domain{"eu-central-1": {Name: "api.acme.example", HostedZoneID: "Z1"}}
		}, "certificate", Skipped, "by the zone Z1"},
		"no network":                {nil, func(s *customer.Settings) { s.Network = nil }, "egress addresses", Skipped, "addresses of AWS that change"},
		"a replica without its API": {func(a *account) { delete(a.outputs, "acme-prod-eu-central-1-api") }, nil, "gateway log role", Skipped, "after the first deployment"},
		"addresses to come":         {func(a *account) { a.outputs["acme-prod-eu-central-1-data"]["EgressAddresses"] = "" }, nil, "egress addresses", Skipped, "after the first deployment"},
		"instances kept started": {fresh, func(s *customer.Settings) {
			s.Concurrency = &customer.Concurrency{Provisioned: map[string]int{"content": 800}}
		}, "concurrency", Failed, "the functions reserve 1000"},
		"more reserved": {fresh, func(s *customer.Settings) {
			s.Concurrency = &customer.Concurrency{Reserved: map[string]int{"content": 800}, Provisioned: map[string]int{"content": 800}}
		}, "concurrency", Failed, "the functions reserve 1000"},
		"no domain":              {nil, func(s *customer.Settings) { s.Domains = nil }, "certificate", Skipped, "no domain"},
		"an unconfirmed address": {func(a *account) { a.pending = []string{"ops@acme.example"} }, nil, "alarm e-mail", Warning, "no alarm reaches ops@acme.example: open the link"},
		"no address":             {nil, func(s *customer.Settings) { s.AlarmEmail = "" }, "alarm e-mail", Warning, "set alarmEmail of acme"},
		"no log role":            {func(a *account) { a.role = "" }, nil, "gateway log role", Warning, "deploy again"},
		"a log role to come":     {fresh, nil, "gateway log role", Skipped, "after the first deployment"},
	} {
		t.Run(name, func(t *testing.T) {
			a, s := ready(), acme()
			if c.change != nil {
				c.change(a)
			}
			if c.of != nil {
				c.of(&s)
			}
			results, err := Run(t.Context(), a, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				switch {
				case r.Check == c.check && (r.State != c.state || !strings.Contains(r.Text, c.says)):
					t.Errorf("%+v, want %s: %q", r, c.state, c.says)
				case r.Check != c.check && r.State == Failed:
					t.Errorf("another check fails: %+v", r)
				}
			}
			var out strings.Builder
			if err := Report(&out, results); (err != nil) != (c.state == Failed) || !strings.Contains(out.String(), c.says) {
				t.Errorf("the report ends with %v:\n%s", err, out.String())
			}
		})
	}
}

func TestNothingIsAskedOfAnotherAccount(t *testing.T) {
	a := ready()
	a.id = "444455556666"
	results, err := Run(t.Context(), a, acme())
	if err != nil || len(results) != 1 || a.asked > 0 {
		t.Errorf("%d results, %v, %d questions", len(results), err, a.asked)
	}
}

func TestAReadyAccountPasses(t *testing.T) {
	results, err := Run(t.Context(), ready(), acme())
	if err != nil || len(results) != 9 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, r := range results {
		if r.State != OK {
			t.Errorf("%+v", r)
		}
	}
}

package operate_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/operate/preflight"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/service/worker"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// certified returns a target of the canary with a certificate that expires at a time.
func certified(at time.Time) string {
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	of := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: at}
	der, err := x509.CreateCertificate(rand.Reader, &of, &of, &secret.PublicKey, secret)
	if err != nil {
		panic(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(worker.Target{
		BaseURL: "https://api.acme.example", Key: "svc_test_1",
		Certificate: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		PrivateKey:  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// pairOf returns the certificate of certified and its key alone.
func pairOf(at time.Time) string {
	var t worker.Target
	err := json.Unmarshal([]byte(certified(at)), &t)
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(map[string]string{"certificate": t.Certificate, "private_key": t.PrivateKey})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// named gives callers without a client certificate a name.
func named(s *customer.Settings) {
	s.Domains = map[string]customer.Domain{"eu-central-1": {Name: "api.acme.example", CertificateArn: "arn:certificate",
		Truststore: "s3://t/c.pem", PublicName: "public.acme.example"}}
}

// account is a double of an AWS account.
type account struct {
	id                string
	outputs           map[string]map[string]string
	limit, unreserved int
	models            map[string]string        // reasons why models cannot be called
	lacks             map[string]bool          // models
	lives             map[string]provider.Life // nil: all models are there, and none ends
	secret            string
	certificate       string
	quotas            []preflight.Quota
	pending           []string
	role              string
	// unknownSender, unverified and sandboxed are about Amazon SES.
	unknownSender, unverified, sandboxed string
	untrailed                            bool  // no trail of CloudTrail logs
	err                                  error // of Concurrency
	noCredentials                        error
	asked                                int
	memory                               int    // of compose; 0 if it does not exist
	refuses                              string // reason why a function of its size is refused
	denies                               bool
	probed                               string // stack that was made for the probe
	target                               string // target of the canary
	caller                               string // client certificate of the account area
}

func (a *account) ID(context.Context) (string, error) { return a.id, a.noCredentials }

func (a *account) Outputs(_ context.Context, stack string) (map[string]string, error) {
	a.asked++
	if o, ok := a.outputs[stack]; ok {
		return o, nil
	}
	return nil, preflight.ErrMissing
}

func (a *account) Concurrency(context.Context) (int, int, error) { return a.limit, a.unreserved, a.err }

func (a *account) Memory(context.Context, string) (int, error) {
	if a.memory == 0 {
		return 0, preflight.ErrMissing
	}
	return a.memory, nil
}

func (a *account) Takes(_ context.Context, stack, boundary string, memory int) (string, error) {
	a.probed = fmt.Sprint(stack, " ", boundary, " ", memory)
	if a.denies {
		return "", errors.Join(preflight.ErrDenied, errors.New("AccessDenied"))
	}
	return a.refuses, nil
}

func (a *account) Model(_ context.Context, id string) (string, error) {
	if a.lacks[id] {
		return "", preflight.ErrMissing
	}
	return a.models[id], nil
}

// Lives has all models of the catalog, of which some may have another life.
func (a *account) Lives(context.Context) (map[string]provider.Life, error) {
	all := map[string]provider.Life{}
	for _, m := range catalog.Models(catalog.Filter{Provider: "bedrock"}) {
		all[m.ProviderModel] = a.lives[m.ProviderModel]
	}
	return all, nil
}

func (a *account) Quotas(context.Context, string) ([]preflight.Quota, error) { return a.quotas, nil }

func (a *account) Secret(_ context.Context, arn string) (string, error) {
	if arn == "arn:caller" {
		return a.caller, nil
	}
	if arn == "arn:canary" {
		return a.target, nil
	}
	return a.secret, nil
}

func (a *account) Certificate(context.Context, string) (string, error) {
	if a.certificate == "" {
		return "", preflight.ErrMissing
	}
	return a.certificate, nil
}

func (a *account) Pending(context.Context, string) ([]string, error) { return a.pending, nil }
func (a *account) Sends(_ context.Context, domain string) (verified, production bool, err error) {
	if a.unknownSender == domain {
		return false, false, preflight.ErrMissing
	}
	return a.unverified != domain, a.sandboxed != domain, nil
}
func (a *account) Trails(context.Context) (bool, error)    { return !a.untrailed, nil }
func (a *account) LogRole(context.Context) (string, error) { return a.role, nil }

// ready returns an account in which acme is deployed without problems.
func ready() *account {
	return &account{
		id: "111122223333", limit: 1000, unreserved: 800, certificate: "ISSUED", role: "arn:role", memory: 5308,
		target: `{"base_url": "https://api.acme.example", "key": "svc_test_1"}`,
		secret: `{"fal": {"key": "f"}, "elevenlabs": {"key": "e"}}`, quotas: bedrockQuotas(),
		outputs: map[string]map[string]string{
			"CDKToolkit": {"BootstrapVersion": "28"},
			"acme-prod-eu-central-1-data": {"ProviderSecretArn": "arn:secret", "AlarmTopicArn": "arn:topic", "PageTopicArn": "arn:pages",
				"CanarySecretArn": "arn:canary", "CallerSecretArn": "arn:caller", "EgressAddresses": "203.0.113.7,203.0.113.8"},
			"acme-prod-eu-central-1-api": {"ApiId": "a"},
		},
	}
}

func acme() customer.Settings {
	return customer.Settings{
		Customer: "acme", Stage: "prod", Region: "eu-central-1", Account: "111122223333",
		AlarmEmail: "ops@acme.example", MonthlyBudget: 500, SignInSender: "no-reply@people.example",
		MailSender: "no-reply@acme.example",
		Providers:  []string{"bedrock", "polly", "fal", "elevenlabs"},
		Isolation:  customer.Isolation{Network: &customer.Network{CIDR: "10.20.0.0/16", Zones: 2}},
		Domains: map[string]customer.Domain{"eu-central-1": {Name: "api.acme.example",
			CertificateArn: "arn:certificate"}},
	}
}

func TestWhatIsFoundAndWhatToDo(t *testing.T) {
	fresh := func(a *account) {
		a.outputs = map[string]map[string]string{"CDKToolkit": {"BootstrapVersion": "6"}}
		a.unreserved, a.memory = 1000, 0
	}
	const tooMuch = "Resource handler returned message: \"'MemorySize' value failed to satisfy constraint: Member " +
		"must have value less than or equal to 3008\""
	private := func(s *customer.Settings) { s.Domains, s.PrivateEndpoints = nil, []string{"vpce-1"} }
	probing := func(a *account) {
		a.outputs["acme-prod-eu-central-1-api"]["ProbeUrl"] = "https://a-vpce-2.execute-api.eu-central-1.amazonaws.com/prod"
	}
	for name, c := range map[string]struct {
		change func(*account)
		of     func(*customer.Settings)
		check  string
		state  preflight.State
		says   string
	}{
		"another account": {func(a *account) { a.id = "444455556666" }, nil, "credentials", preflight.Failed,
			"for the account 444455556666, and acme has the account 111122223333"},
		"no credentials": {func(a *account) { a.noCredentials = errors.New("expired") }, nil, "credentials",
			preflight.Failed, "sign in"},
		"not bootstrapped": {func(a *account) { delete(a.outputs, "CDKToolkit") }, nil, "bootstrap", preflight.Failed,
			"`make bootstrap`"},
		"an old bootstrap": {func(a *account) { a.outputs["CDKToolkit"]["BootstrapVersion"] = "5" }, nil,
			"bootstrap", preflight.Failed, `version "5", and 6`},
		"a new account": {func(a *account) { fresh(a); a.limit, a.unreserved = 10, 10 }, nil, "concurrency",
			preflight.Failed, "request at least"},
		"little left for requests": {func(a *account) { fresh(a); a.limit, a.unreserved = 400, 400 }, nil,
			"concurrency", preflight.Warning, "Service Quotas"},
		"reservations of others": {func(a *account) { fresh(a); a.limit, a.unreserved = 1000, 250 }, nil,
			"concurrency", preflight.Failed, "of which 250 are not reserved"},
		"its own reservation": {func(a *account) { a.limit, a.unreserved = 1000, 600 }, nil, "concurrency", preflight.OK,
			"limit 1000"},
		"no permission": {func(a *account) { a.err = errors.New("AccessDenied") }, nil, "concurrency",
			preflight.Failed, "AccessDenied. Check the permissions"},
		"an AWS without it": {func(a *account) { a.err = preflight.ErrUnsupported }, nil, "concurrency", preflight.Skipped,
			"cannot answer"},
		"a new account's memory": {func(a *account) { fresh(a); a.refuses = tooMuch }, nil, "memory", preflight.Failed,
			"open a case at AWS Support"},
		"too little for a release": {func(a *account) { a.memory, a.refuses = 3008, tooMuch }, nil, "memory", preflight.Failed,
			"lower limit than the 5308 MB that compose needs"},
		"no functions at all": {func(a *account) { fresh(a); a.refuses = "explicit deny" }, nil, "memory", preflight.Failed,
			"AWS makes no function of 5308 MB, which compose needs: explicit deny"},
		"memory enough":       {fresh, nil, "memory", preflight.OK, "takes the 5308 MB of compose"},
		"memory of a release": {nil, nil, "memory", preflight.OK, "compose has 5308 MB"},
		"no permission to probe": {func(a *account) { fresh(a); a.denies = true }, nil, "memory", preflight.Warning,
			"not checked, because the credentials may make no stack"},
		"no target of the canary": {func(a *account) { a.target = "{}" }, nil, "canary", preflight.Warning,
			"has no address and test key; set them with `admin canary set`"},
		"half a target": {func(a *account) { a.target = `{"key": "svc_test_1"}` }, nil, "canary", preflight.Warning,
			"needs base_url and key"},
		"a canary without network": {nil, func(s *customer.Settings) { private(s); s.Network = nil }, "canary", preflight.Warning,
			"Set network of acme"},
		"a canary by another name": {probing, private, "canary", preflight.Warning,
			"reaches the private API by https://a-vpce-2.execute-api"},
		"a canary in the network": {func(a *account) {
			probing(a)
			a.target = `{"base_url": "https://a-vpce-2.execute-api.eu-central-1.amazonaws.com/prod/", "key": "svc_test_1"}`
		}, private, "canary", preflight.OK, "https://a-vpce-2"},
		"no client certificate": {nil, func(s *customer.Settings) {
			s.Domains = map[string]customer.Domain{"eu-central-1": {Name: "api.acme.example",
				CertificateArn: "arn:certificate", Truststore: "s3://t/c.pem"}}
		}, "canary", preflight.Warning, "api.acme.example wants client certificates"},
		"a certificate that ends": {func(a *account) { a.target = certified(now.Add(29 * 24 * time.Hour)) }, nil,
			"canary", preflight.Warning, "expires at 2026-12-21T12:00:00Z"},
		"a certificate that lasts": {func(a *account) { a.target = certified(now.Add(31 * 24 * time.Hour)) }, nil,
			"canary", preflight.OK, "https://api.acme.example"},
		"no certificate of the account area": {func(a *account) { a.caller = "{}" }, named, "caller", preflight.Warning,
			"they cannot call api.acme.example"},
		"a certificate of the account area that ends": {func(a *account) {
			a.caller = pairOf(now.Add(29 * 24 * time.Hour))
		}, named, "caller", preflight.Warning, "expires at 2026-12-21T12:00:00Z"},
		"a certificate of the account area that lasts": {func(a *account) {
			a.caller = pairOf(now.Add(31 * 24 * time.Hour))
		}, named, "caller", preflight.OK, "valid until 2026-12-23"},
		"a canary before deployment": {fresh, nil, "canary", preflight.Skipped, "after the first deployment"},
		"no sender of e-mails":       {nil, func(s *customer.Settings) { s.SignInSender = "" }, "sign-in e-mails", preflight.Warning, "set signInSender of acme"},
		"no e-mails": {nil, func(s *customer.Settings) { s.MailSender = "" }, "e-mails to people", preflight.Skipped,
			"set mailSender of acme"},
		"a verified sender": {nil, nil, "e-mails to people", preflight.OK, "no-reply@acme.example"},
		"an unknown sender": {func(a *account) { a.unknownSender = "acme.example" }, nil, "e-mails to people", preflight.Failed,
			"has not verified acme.example: create the identity and its DNS records, or remove mailSender of acme"},
		"an unverified sender": {func(a *account) { a.unverified = "acme.example" }, nil, "e-mails to people", preflight.Failed,
			"has not verified acme.example"},
		"a sender in the sandbox": {func(a *account) { a.sandboxed = "acme.example" }, nil, "e-mails to people", preflight.Warning,
			"production access"},
		"an unknown sender of sign-ins": {func(a *account) { a.unknownSender = "people.example" }, nil, "sign-in e-mails", preflight.Failed,
			"has not verified people.example: create the identity and its DNS records, or remove signInSender of acme"},
		"an unverified sender of sign-ins": {func(a *account) { a.unverified = "people.example" }, nil, "sign-in e-mails", preflight.Failed,
			"has not verified people.example"},
		"a sender of sign-ins in the sandbox": {func(a *account) { a.sandboxed = "people.example" }, nil, "sign-in e-mails", preflight.Warning,
			"production access"},
		"a verified sender of sign-ins": {nil, nil, "sign-in e-mails", preflight.OK, "no-reply@people.example"},
		"no trail": {func(a *account) { a.untrailed = true }, nil, "trail", preflight.Warning,
			"no trail of CloudTrail logs eu-central-1"},
		"no budget": {nil, func(s *customer.Settings) { s.MonthlyBudget = 0 }, "budget", preflight.Warning,
			"set monthlyBudget of acme"},
		"a model without agreement": {func(
			a *account) {
			a.models = map[string]string{"amazon.nova-lite-v1:0": "the agreement is PENDING"}
		}, nil, "models", preflight.Warning, "amazon.nova-lite-v1:0 (the agreement is PENDING; claude-haiku-5.5 writes in its place)"},
		"a model that is not there": {func(a *account) { a.lacks = map[string]bool{"deepseek.v3.2": true} },
			nil, "models", preflight.Warning, "deepseek.v3.2 (not in eu-central-1; claude-haiku-5.5 writes in its place)"},
		"a model of other regions": {func(
			a *account) {
			a.lacks = map[string]bool{"stability.stable-image-core-v1:1": true}
		}, nil, "models", preflight.OK, "models of Bedrock"},
		"a model that ends soon": {func(a *account) {
			a.lives = map[string]provider.Life{"amazon.nova-lite-v1:0": {End: now.Add(40 * 24 * time.Hour)}}
		}, nil, "models", preflight.Warning, "AWS says that nova-lite ends on 2027-01-01 (the catalog has no end)"},
		"a model that is Legacy": {func(a *account) {
			a.lives = map[string]provider.Life{"anthropic.claude-sonnet-5-5": {Legacy: true, End: now.Add(180 * 24 * time.Hour)}}
		}, nil, "models", preflight.Warning, "claude-sonnet-5.5 is Legacy, and AWS refuses it to new accounts: deepseek-3.2 writes " +
			"in its place"},
		"a writer without an agreement": {func(a *account) {
			a.models = map[string]string{"anthropic.claude-haiku-5-5": "the agreement is PENDING"}
		}, nil, "models", preflight.Warning, "anthropic.claude-haiku-5-5 (the agreement is PENDING; nova-2-lite writes in its place)"},
		"without bedrock": {nil, func(s *customer.Settings) { s.Providers = []string{"fal"} }, "models",
			preflight.Skipped, "do not include bedrock"},
		"an empty secret": {func(a *account) { a.secret = "{}" }, nil, "provider credentials", preflight.Warning,
			"those of fal, elevenlabs are missing"},
		"a secret before deployment": {fresh, nil, "provider credentials", preflight.Skipped, "after the first deployment"},
		"no provider with a secret": {nil, func(s *customer.Settings) { s.Providers = []string{"polly"} },
			"provider credentials", preflight.Skipped, "needs a credential"},
		"a pending certificate": {func(a *account) { a.certificate = "PENDING_VALIDATION" }, nil, "certificate",
			preflight.Failed, "add the validation records"},
		"no certificate": {func(a *account) { a.certificate = "" }, nil, "certificate", preflight.Failed,
			"request one for api.acme.example"},
		"a new certificate": {nil, func(s *customer.Settings) {
			s.Domains = map[string]customer.Domain{"eu-central-1": {Name: "api.acme.example", HostedZoneID: "Z1"}}
		}, "certificate", preflight.Skipped, "by the zone Z1"},
		"no network": {nil, func(s *customer.Settings) { s.Network = nil }, "egress addresses", preflight.Skipped,
			"addresses of AWS that change"},
		"a replica without its API": {func(a *account) { delete(a.outputs, "acme-prod-eu-central-1-api") }, nil,
			"gateway log role", preflight.Skipped, "after the first deployment"},
		"addresses to come": {func(
			a *account) {
			a.outputs["acme-prod-eu-central-1-data"]["EgressAddresses"] = ""
		}, nil, "egress addresses", preflight.Skipped, "after the first deployment"},
		"instances kept started": {fresh, func(s *customer.Settings) {
			s.Concurrency = &customer.Concurrency{Provisioned: map[string]int{"content": 800}}
		}, "concurrency", preflight.Failed, "the functions reserve 1000"},
		"more reserved": {fresh, func(s *customer.Settings) {
			s.Concurrency = &customer.Concurrency{Reserved: map[string]int{"content": 800},
				Provisioned: map[string]int{"content": 800}}
		}, "concurrency", preflight.Failed, "the functions reserve 1000"},
		"no domain": {nil, func(s *customer.Settings) { s.Domains = nil }, "certificate", preflight.Skipped,
			"no domain"},
		"an unconfirmed address": {func(a *account) { a.pending = []string{"ops@acme.example"} }, nil, "alarm e-mail",
			preflight.Warning, "no alarm reaches ops@acme.example: open the link"},
		"no address": {nil, func(s *customer.Settings) { s.AlarmEmail = "" }, "alarm e-mail", preflight.Warning,
			"set alarmEmail of acme"},
		"no log role":        {func(a *account) { a.role = "" }, nil, "gateway log role", preflight.Warning, "deploy again"},
		"a log role to come": {fresh, nil, "gateway log role", preflight.Skipped, "after the first deployment"},
	} {
		t.Run(name, func(t *testing.T) {
			a, s := ready(), acme()
			if c.change != nil {
				c.change(a)
			}
			if c.of != nil {
				c.of(&s)
			}
			results, err := preflight.Run(t.Context(), a, s, now)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				switch {
				case r.Check == c.check && (r.State != c.state || !strings.Contains(r.Text, c.says)):
					t.Errorf("%+v, want %s: %q", r, c.state, c.says)
				case r.Check != c.check && r.State == preflight.Failed:
					t.Errorf("another check fails: %+v", r)
				}
			}
			var out strings.Builder
			if err := preflight.Report(&out, results); (err != nil) != (c.state == preflight.Failed) ||
				!strings.Contains(out.String(), c.says) {
				t.Errorf("the report ends with %v:\n%s", err, out.String())
			}
		})
	}
}

// A function is made only if no existing one shows the memory that the account permits.
func TestMemoryIsProbedOnce(t *testing.T) {
	for memory, want := range map[int]string{0: "acme-prod-eu-central-1-preflight arn:boundary 5308",
		3008: "acme-prod-eu-central-1-preflight arn:boundary 5308", 5308: "", 10240: ""} {
		a, s := ready(), acme()
		a.memory, s.PermissionsBoundary = memory, "arn:boundary"
		if _, err := preflight.Run(t.Context(), a, s, now); err != nil || a.probed != want {
			t.Errorf("with %d MB: probed %q, %v", memory, a.probed, err)
		}
	}
}

func TestNothingIsAskedOfAnotherAccount(t *testing.T) {
	a := ready()
	a.id = "444455556666"
	results, err := preflight.Run(t.Context(), a, acme(), now)
	if err != nil || len(results) != 1 || a.asked > 0 {
		t.Errorf("%d results, %v, %d questions", len(results), err, a.asked)
	}
}

func TestAReadyAccountPasses(t *testing.T) {
	results, err := preflight.Run(t.Context(), ready(), acme(), now)
	if err != nil || len(results) != 16 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, r := range results {
		if r.State != preflight.OK {
			t.Errorf("%+v", r)
		}
	}
}

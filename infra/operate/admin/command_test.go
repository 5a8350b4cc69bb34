package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/operate/preflight"
	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// operator runs the command on a table of its test.
type operator struct {
	t     *testing.T
	db    *store.DB
	audit *store.DB
	clock *apitest.Clock
	// auditFails is the error of opening the audit log.
	auditFails error
	// quotas are those of all services.
	quotas []preflight.Quota
	// in is standard input.
	in string
}

func (o *operator) openAudit(context.Context, string) (auditLog, error) {
	return auditLog{o.audit, o.clock.Now}, o.auditFails
}

func newOperator(t *testing.T) *operator {
	clock := apitest.NewClock()
	return &operator{t: t, db: storetest.Open(t, clock.Now), audit: storetest.Open(t, clock.Now), clock: clock}
}

// try runs the command and returns its output.
func (o *operator) try(args ...string) (string, error) {
	o.t.Helper()
	var out bytes.Buffer
	cmd := root(&out, func(_ context.Context, table string) (services, error) {
		if table != "state" {
			o.t.Errorf("%v opens the table %q", args, table)
		}
		accounts := account.NewService(o.db, o.clock.Now)
		quotas := func(context.Context, string) ([]preflight.Quota, error) { return o.quotas, nil }
		return services{accounts, apikey.NewService(o.db, accounts, o.clock.Now, rand.Reader), o.db, o.clock.Now,
			quotas}, nil
	}, nil, o.openAudit)
	cmd.SetArgs(append(args, "--table", "state"))
	cmd.SetErr(&out)
	cmd.SetIn(strings.NewReader(o.in))
	err := cmd.ExecuteContext(o.t.Context())
	return out.String(), err
}

// run runs the command, which must succeed, and decodes its output.
func (o *operator) run(v any, args ...string) string {
	o.t.Helper()
	out, err := o.try(args...)
	if err != nil {
		o.t.Fatalf("%v: %v", args, err)
	}
	if v != nil {
		if err := json.Unmarshal([]byte(out), v); err != nil {
			o.t.Fatalf("%v printed %s: %v", args, out, err)
		}
	}
	o.clock.Add(time.Second)
	return out
}

// secret returns the credential that the authorizer finds for a key.
func (o *operator) secret(secret string) *credential.Credential {
	o.t.Helper()
	s, err := credential.NewCounter(o.db, o.clock.Now).Count(o.t.Context(), auth.HashKey(secret),
		o.clock.Now().Unix()/60, "203.0.113.9")
	if err != nil {
		o.t.Fatal(err)
	}
	return s
}

func TestAccounts(t *testing.T) {
	o := newOperator(t)
	var a, b, c account.Account
	o.run(&a, "account", "create", "--name", "Acme & Co")
	if !id.Valid(id.Account, a.ID) || a.Name != "Acme & Co" || a.Plan != "enterprise" ||
		a.RateLimits != (account.RateLimits{Test: 60, Live: 600}) || len(a.IPAllowList) != 0 ||
		a.LowThreshold != 1000 || a.LostSpendLimit != ledger.DefaultLostLimit {
		t.Errorf("%+v", a)
	}
	o.run(&b, "account", "create", "--name", "Beta", "--plan", "growth", "--test-limit", "7", "--live-limit", "70",
		"--ip-allow", "203.0.113.0/24", "--ip-allow", "2001:db8::/32,192.0.2.1", "--low-threshold", "5")
	if b.Plan != "growth" || b.RateLimits != (account.RateLimits{Test: 7, Live: 70}) ||
		strings.Join(b.IPAllowList, " ") != "203.0.113.0/24 2001:db8::/32 192.0.2.1/32" || b.LowThreshold != 5 {
		t.Errorf("%+v", b)
	}
	// A change replaces the named members; the others stay.
	o.run(&c, "account", "update", b.ID, "--plan", "enterprise")
	if c.Plan != "enterprise" || c.RateLimits != b.RateLimits || len(c.IPAllowList) != 3 || c.Name != "Beta" ||
		c.LowThreshold != 5 || c.Version != 2 {
		t.Errorf("%+v", c)
	}
	o.run(&c, "account", "update", b.ID, "--ip-allow", "", "--low-threshold", "0", "--lost-spend-limit", "70")
	if it, err := o.db.Get(t.Context(), ledger.BalanceKey(tenant.Account(b.ID))); err != nil ||
		ledger.BalanceOf(it).LostLimit != 70 {
		t.Errorf("the limit beside the balance is %d, %v", ledger.BalanceOf(it).LostLimit, err)
	}
	if len(c.IPAllowList) != 0 || c.LowThreshold != 0 || c.LostSpendLimit != 70 || c.Plan != "enterprise" {
		t.Errorf("%+v", c)
	}
	list := strings.Split(strings.TrimSpace(o.run(nil, "account", "list")), "\n")
	if len(list) != 2 || !strings.HasPrefix(list[0], a.ID) || !strings.HasSuffix(list[0], "Acme & Co") ||
		!strings.HasPrefix(list[1], b.ID) || !strings.Contains(list[1], "enterprise") {
		t.Errorf("listed as %q", list)
	}
}

func TestTopUp(t *testing.T) {
	o := newOperator(t)
	var a account.Account
	o.run(&a, "account", "create", "--name", "Acme")
	var e ledger.Entry
	o.run(&e, "account", "top-up", a.ID, "--credits", "500")
	if e.Credits != 500 || e.Kind != "top_up" {
		t.Errorf("%+v", e)
	}
	o.run(nil, "account", "top-up", a.ID, "--credits", "7")
	if it, err := o.db.Get(t.Context(), ledger.BalanceKey(tenant.Account(a.ID))); err != nil ||
		ledger.BalanceOf(it).Credits != 507 {
		t.Errorf("the balance is %d, %v", ledger.BalanceOf(it).Credits, err)
	}
}

func TestAdjust(t *testing.T) {
	o := newOperator(t)
	var a account.Account
	o.run(&a, "account", "create", "--name", "Acme")
	o.run(nil, "account", "top-up", a.ID, "--credits", "500")
	var e ledger.Entry
	o.run(&e, "account", "adjust", a.ID, "--credits", "-20", "--reason", "charged twice by us")
	if e.Credits != -20 || e.Kind != "adjust" {
		t.Errorf("%+v", e)
	}
	o.run(&e, "account", "adjust", a.ID, "--credits=5", "--reason", "and a little back")
	if it, err := o.db.Get(t.Context(), ledger.BalanceKey(tenant.Account(a.ID))); err != nil ||
		ledger.BalanceOf(it).Credits != 485 {
		t.Errorf("the balance is %d, %v", ledger.BalanceOf(it).Credits, err)
	}
}

func TestKeys(t *testing.T) {
	o := newOperator(t)
	var a account.Account
	o.run(&a, "account", "create", "--name", "Acme")
	var all, few apikey.NewKey
	o.run(&all, "key", "create", a.ID)
	if mode, ok := auth.ParseKey(all.Secret); !ok || mode != tenant.Test || len(all.Scopes) != 13 ||
		all.CreatedBy != "operator" || all.Name == "" {
		t.Errorf("%+v", all)
	}
	o.run(&few, "key", "create", a.ID, "--kind", "live", "--name", "CRM", "--spend-limit", "0", "--scope",
		"content:read", "--scope", "studio:use,account:read")
	if mode, ok := auth.ParseKey(few.Secret); !ok || mode != tenant.Live || len(few.Scopes) != 3 || few.Name != "CRM" ||
		few.SpendLimit == nil || *few.SpendLimit != 0 {
		t.Errorf("%+v", few)
	}
	if s := o.secret(few.Secret); s.Limit != 600 || s.KeyID != few.ID || len(s.Scopes) != 3 || s.SpendLimit == nil {
		t.Errorf("%+v", *s)
	}
	// A change of the account takes effect for its keys at once.
	o.run(nil, "account", "update", a.ID, "--live-limit", "9", "--plan", "starter")
	if s := o.secret(few.Secret); s.Limit != 9 || s.Plan != "starter" {
		t.Errorf("%+v", *s)
	}
	var revoked apikey.Key
	o.run(&revoked, "key", "revoke", a.ID, few.ID)
	if revoked.State != "revoked" || !o.secret(few.Secret).Revoked {
		t.Errorf("%+v", revoked)
	}
	out := o.run(nil, "key", "list", a.ID)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], all.ID+"  test  active") ||
		!strings.Contains(lines[1], few.ID+"  live  revoked") || !strings.HasSuffix(lines[1], "CRM") {
		t.Errorf("listed as %q", lines)
	}
	if strings.Contains(out, all.Secret) || strings.Contains(out, few.Secret) {
		t.Error("the list tells secrets")
	}
	if table := storetest.Snapshot(t, o.db); strings.Contains(table, all.Secret) ||
		strings.Contains(table, few.Secret) {
		t.Error("the table has secrets in clear")
	}
}

func TestMistakesAreToldInASentence(t *testing.T) {
	o := newOperator(t)
	var a account.Account
	o.run(&a, "account", "create", "--name", "Acme")
	before := storetest.Snapshot(t, o.db)
	unknown := id.New(id.Account, o.clock.Now())
	for _, c := range []struct {
		args string
		says string
	}{
		{"nobody list", `unknown command "nobody"`},
		{"account lst", `unknown command "lst"`},
		{"key", ""},
		{"account", ""},
		{"help account", ""},
		{"account create", `required flag(s) "name" not set`},
		{"account create --nmae Acme", "unknown flag: --nmae"},
		{"account create Acme --name Acme", `unknown command "Acme"`},
		{"account create --name=", "/name: must have 1 to 100 characters"},
		{"account create --name x --plan gold", "/plan: is not a known value. The values are starter, growth, business, enterprise"},
		{"account create --name x --test-limit many", `invalid argument "many" for "--test-limit"`},
		{"account create --name x --test-limit 0", "/rate_limits: must be between 1 and 1000000"},
		{"account create --name x --ip-allow here", "/ip_allow_list/0: is not an address range"},
		{"account create --name x --ip-allow 10.0.0.1/8", "did you mean 10.0.0.0/8?"},
		{"account create --name x --low-threshold -1", "/low_threshold: must not be negative"},
		{"account create --name x --lost-spend-limit -1", "/lost_spend_limit: must not be negative"},
		{"account update", "accepts 1 arg(s), received 0"},
		{"account update " + a.ID, "nothing to change"},
		{"account update " + unknown + " --plan starter", "There is no account"},
		{"account update nonsense --plan starter", "There is no account"},
		{"account top-up " + a.ID, `required flag(s) "credits" not set`},
		{"account top-up " + a.ID + " --credits 0", "/credits: must be between 1 and"},
		{"account top-up " + a.ID + " --credits -5", "/credits: must be between 1 and"},
		{"account top-up " + a.ID + " --credits 1.5", `invalid argument "1.5" for "--credits"`},
		{"account top-up " + unknown + " --credits 5", "There is no account"},
		{"account adjust " + a.ID + " --reason why", `required flag(s) "credits" not set`},
		{"account adjust " + a.ID + " --credits -5", `required flag(s) "reason" not set`},
		{"account adjust " + a.ID + " --credits -5 --reason=", "/reason: must have 1 to 500 characters"},
		{"account adjust " + a.ID + " --credits 0 --reason why", "/credits: must be between -1000000000000 and " +
			"1000000000000, and not 0"},
		{"account adjust " + a.ID + " --credits -5 --reason why", "/credits: would take the balance of 0 below 0"},
		{"account adjust " + unknown + " --credits 5 --reason why", "There is no account"},
		{"account list " + a.ID, `unknown command`},
		{"key create " + unknown, "There is no account"},
		{"key create " + a.ID + " --kind demo", "--kind must be live or test"},
		{"key create " + a.ID + " --scope content:reed", "/scopes/0: is not a known value; did you mean content:read?"},
		{"key create " + a.ID + " --name=", "/name: must have 1 to 100 characters"},
		{"key revoke " + a.ID, "accepts 2 arg(s), received 1"},
		{"key revoke " + a.ID + " key_1", "is not a whole id: after key_"},
		{"key revoke " + a.ID + " " + id.New(id.APIKey, o.clock.Now()), "No API key has the id"},
	} {
		out, err := o.try(strings.Fields(c.args)...)
		if c.says == "" {
			if err != nil || !strings.Contains(out, "Usage:") {
				t.Errorf("%s: %v, printed %s", c.args, err, out)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s succeeds", c.args)
			continue
		}
		if said := sentence(err); !strings.Contains(said, c.says) || strings.Contains(said, "\n") {
			t.Errorf("%s: says %q, want %q", c.args, said, c.says)
		}
		if out != "" {
			t.Errorf("%s: printed %q", c.args, out)
		}
	}
	if storetest.Snapshot(t, o.db) != before {
		t.Error("a mistake has changed something")
	}
}

func TestOpenNamesWhatIsMissing(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
	if _, err := open(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "--table or TABLE_NAME") {
		t.Errorf("without a table: %v", err)
	}
	if _, err := open(t.Context(), "state"); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("without a region: %v", err)
	}
	t.Setenv("AWS_REGION", "eu-central-1")
	if s, err := open(t.Context(), "state"); err != nil || s.accounts == nil || s.keys == nil {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestTheTableIsThatOfTheEnvironment(t *testing.T) {
	t.Setenv("TABLE_NAME", "from-environment")
	var opened string
	cmd := root(&bytes.Buffer{}, func(_ context.Context, table string) (services, error) {
		opened = table
		return services{}, errors.New("enough")
	}, nil, nil)
	cmd.SetArgs([]string{"account", "list"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || opened != "from-environment" {
		t.Errorf("opened %q, %v", opened, err)
	}
}

func TestSentence(t *testing.T) {
	cause := errors.New("connection refused")
	for want, err := range map[string]error{
		"It is not there.":                         errs.New(errs.NotFound, "It is not there."),
		"internal: It failed.: connection refused": errs.Wrap(cause, errs.Internal, "It failed."),
		"connection refused":                       cause,
	} {
		if got := sentence(err); got != want {
			t.Errorf("says %q, want %q", got, want)
		}
	}
}

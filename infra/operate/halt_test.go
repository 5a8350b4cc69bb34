package operate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/content-automation/api/infra/operate/halt"
)

var (
	_ halt.Lambda = (*lambda.Client)(nil)
	_ halt.Rules  = (*eventbridge.Client)(nil)
)

// deployment returns the deployment of acme in the account, with its reports.
func deployment(c *cloud) (*halt.Deployment, *strings.Builder) {
	var said strings.Builder
	return &halt.Deployment{
		Lambda: c, Rules: rules{c}, Prefix: "acme-prod-", Functions: []string{"authorizer", "content", "generate",
			"due", "relay", "canary"}, Scheduled: []string{"due", "canary"},
		Wait:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Report: func(part, became string) { said.WriteString(part + ": " + became + "\n") },
	}, &said
}

func TestConsumersStopAndStart(t *testing.T) {
	c := newCloud()
	before := c.state()
	d, said := deployment(c)
	if err := d.Stop(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for k, state := range c.mappings {
		if want := map[bool]string{true: "Disabled",
			false: "Enabled"}[strings.HasPrefix(k, "acme-prod-")]; state != want {
			t.Errorf("the mapping %s is %s", k, state)
		}
	}
	if c.rules["acme-due-schedule acme-prod-due:live"] != "DISABLED" ||
		c.rules["other acme-prod-other:live"] != "ENABLED" || c.reserved["acme-prod-content"] != -1 ||
		c.reserved["acme-prod-authorizer"] != 200 {
		t.Errorf("%s", c.state())
	}
	for _, want := range []string{"mapping acme-prod-generate of video: stopped, was enabled",
		"mapping acme-prod-relay of state: was stopped before", "schedule acme-due-schedule: stopped"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if err := d.Start(t.Context()); err != nil || c.state() != before || c.marks() != 0 {
		t.Errorf("%v: started as\n%s\nwas\n%s", err, c.state(), before)
	}
}

func TestWithAllNothingCanRun(t *testing.T) {
	c := newCloud()
	before := c.state()
	d, said := deployment(c)
	if err := d.Stop(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	for name, n := range c.reserved {
		if strings.HasPrefix(name, "acme-") && n != 0 {
			t.Errorf("%s may run %d times", name, n)
		}
	}
	if c.reserved["other-prod-generate"] != 7 || len(c.provisioned) != 0 {
		t.Errorf("%s", c.state())
	}
	// No function is stopped while a mapping or a rule still calls it.
	first, last := slices.Index(c.order, "function"), len(c.order)-1
	for c.order[last] != "mapping" && c.order[last] != "schedule" {
		last--
	}
	if first < last {
		t.Errorf("the order is %v", c.order)
	}
	if !strings.Contains(said.String(), "function acme-prod-canary: it does not exist") ||
		!strings.Contains(said.String(), "function acme-prod-authorizer: stopped, was reserved=200 provisioned=10") {
		t.Errorf("%s", said)
	}
	if err := d.Start(t.Context()); err != nil || c.state() != before || c.marks() != 0 {
		t.Errorf("%v: started as\n%s\nwas\n%s", err, c.state(), before)
	}
	if err := d.Start(t.Context()); err != nil || c.state() != before {
		t.Errorf("a second start: %v\n%s", err, c.state())
	}
}

// Both commands can die after any change, and be repeated.
func TestAnInterruptedCommandIsRepeated(t *testing.T) {
	for n := 1; ; n++ {
		c := newCloud()
		before := c.state()
		d, _ := deployment(c)
		c.fails = n
		stopped := d.Stop(t.Context(), true)
		if stopped != nil {
			if !errors.Is(stopped, errDead) || !strings.Contains(stopped.Error(), "repeat the command") {
				t.Fatalf("change %d: %v", n, stopped)
			}
			c.fails = 0
			if err := d.Stop(t.Context(), true); err != nil {
				t.Fatalf("change %d, again: %v", n, err)
			}
		}
		started := d.Start(t.Context())
		if started != nil {
			c.fails = 0
			if err := d.Start(t.Context()); err != nil {
				t.Fatalf("change %d, started again: %v", n, err)
			}
		}
		if c.state() != before || c.marks() != 0 {
			t.Fatalf("change %d: started as\n%s\nwas\n%s, %d marks", n, c.state(), before, c.marks())
		}
		if stopped == nil && started == nil {
			if n < 20 {
				t.Errorf("there were %d changes", n)
			}
			return
		}
	}
}

func TestTheWrongStacksAreNamed(t *testing.T) {
	c := newCloud()
	d, _ := deployment(c)
	d.Prefix = "acme-beta-"
	for _, err := range []error{d.Stop(t.Context(), true), d.Start(t.Context())} {
		if err == nil || !strings.Contains(err.Error(), "acme-beta-") || c.calls > 0 {
			t.Errorf("%v, %d changes", err, c.calls)
		}
	}
}

func TestAMappingThatDoesNotStopIsAnError(t *testing.T) {
	c := newCloud()
	d, _ := deployment(c)
	d.Wait = func(ctx context.Context, _ time.Duration) error {
		c.lazy["acme-prod-generate:live text"] = 100
		return ctx.Err()
	}
	if err := d.Stop(t.Context(), true); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("%v", err)
	}
	if c.reserved["acme-prod-content"] != 0 {
		t.Error("the other parts were not stopped")
	}
}

func TestAMarkThatCannotBeReadIsAnError(t *testing.T) {
	for _, text := range []string{"reserved=", "reserved=7 provisioned=x", "enabled"} {
		if c, err := halt.ReadCapacity(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q is read as %v, %v", text, c, err)
		}
	}
	for _, text := range []string{"reserved=any", "reserved=0", "reserved=200 provisioned=10",
		"reserved=any provisioned=3"} {
		if c, err := halt.ReadCapacity(text); err != nil || c.String() != text {
			t.Errorf("%q is read as %v, %v", text, c, err)
		}
	}
}

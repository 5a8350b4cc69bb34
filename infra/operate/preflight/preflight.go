// Package preflight checks whether an AWS account is ready for a customer's stacks, and
// explains how to prepare it if it is not.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/adapter/provider"
)

// State is the outcome of a check.
type State string

// The outcomes. A warning does not stop a deployment, and a check that does not apply is
// skipped.
const (
	OK      State = "ok"
	Warning State = "warning"
	Skipped State = "skipped"
	Failed  State = "FAILED"
)

// Result is the outcome of one check: the finding, and the advice.
type Result struct {
	Check string
	State State
	Text  string
}

// run is one run of the checks of an account for a customer.
type run struct {
	Account
	customer.Settings
	// outputs are the outputs of the customer's stacks, or empty before the first deployment.
	outputs map[string]string
	now     time.Time
}

// deployed reports whether there are functions. A replica's region has none before a
// failover.
func (r run) deployed() bool { return r.outputs["ApiId"] != "" }

// finding is the outcome of a check, without its name.
type finding struct {
	state State
	text  string
}

func found(state State, format string, args ...any) (finding, error) {
	return finding{state, fmt.Sprintf(format, args...)}, nil
}

// beforeDeployment is the finding of checks of resources that the first deployment makes.
var beforeDeployment = finding{Skipped, "checked after the first deployment"}

// Run makes all checks. If the credentials belong to another account, it makes no further check.
func Run(ctx context.Context, a Account, s customer.Settings, now time.Time) ([]Result, error) {
	r := run{Account: a, Settings: s, outputs: map[string]string{}, now: now}
	type check struct {
		name  string
		check func(run, context.Context) (finding, error)
	}
	checks := []check{
		{"credentials", run.credentials}, {"bootstrap", run.bootstrap}, {"concurrency", run.concurrency},
		{"memory", run.memory},
		{"models", run.models}, {"quotas of models", run.quotas}, {"provider credentials", run.secret},
		{"certificate", run.certificate}, {"egress addresses", run.egress},
		{"alarm e-mail", run.subscription}, {"canary", run.canary}, {"budget", run.budget},
		{"sign-in e-mails", run.sender}, {"e-mails to people", run.mails}, {"gateway log role", run.logRole},
		{"trail", run.trail},
	}
	if s.Inside() {
		checks = append(checks, check{"caller", run.caller})
	}
	var results []Result
	for i, c := range checks {
		f, err := c.check(r, ctx)
		switch {
		case errors.Is(err, ErrUnsupported):
			f = finding{Skipped, "this AWS cannot answer it"}
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			f = finding{Failed, fmt.Sprintf("%v. Check the permissions of the credentials", err)}
		}
		results = append(results, Result{c.name, f.state, f.text})
		if i > 0 {
			continue
		}
		if f.state == Failed {
			return results, nil
		}
		if err := r.read(ctx); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// read reads the outputs of the stacks that exist.
func (r run) read(ctx context.Context) error {
	for _, part := range []string{"-data", "-api"} {
		outputs, err := r.Outputs(ctx, r.Name()+part)
		if err != nil && !errors.Is(err, ErrMissing) {
			return fmt.Errorf("read the stack %s: %w", r.Name()+part, err)
		}
		maps.Copy(r.outputs, outputs)
	}
	return nil
}

// Report writes the results, and returns an error if a check failed.
func Report(out io.Writer, results []Result) error {
	failed := 0
	for _, r := range results {
		if _, err := fmt.Fprintf(out, "%-8s %-21s %s\n", r.State, r.Check, r.Text); err != nil {
			return err
		}
		if r.State == Failed {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed", failed, len(results))
	}
	return nil
}

// Account is the part of an AWS account in a region that the checks read. A method returns
// ErrMissing for a resource that does not exist, and ErrUnsupported if a local AWS lacks
// it. Takes also returns ErrDenied.
type Account interface {
	// ID returns the id of the account of the credentials.
	ID(ctx context.Context) (string, error)
	// Outputs returns the outputs of a stack.
	Outputs(ctx context.Context, stack string) (map[string]string, error)
	// Concurrency returns the number of functions that may run at a time, and the part of it
	// that is not reserved.
	Concurrency(ctx context.Context) (limit, unreserved int, err error)
	// Memory returns the memory of a function, in MB.
	Memory(ctx context.Context, function string) (int, error)
	// Takes returns the reason why AWS refuses a function with the memory, or "". It makes such
	// a function in a stack with the name, and removes it. The boundary of the function's role
	// may be empty.
	Takes(ctx context.Context, stack, boundary string, memory int) (reason string, err error)
	// Model returns the reason why a Bedrock model cannot be called, or "".
	Model(ctx context.Context, id string) (reason string, err error)
	// Lives returns the lives of the models that Bedrock has, by their ids.
	Lives(ctx context.Context) (map[string]provider.Life, error)
	// Quotas returns the quotas of a service, by its code in Service Quotas, such as bedrock.
	Quotas(ctx context.Context, service string) ([]Quota, error)
	// Secret returns the value of a secret.
	Secret(ctx context.Context, arn string) (string, error)
	// Certificate returns the status of a certificate.
	Certificate(ctx context.Context, arn string) (string, error)
	// Pending returns the addresses that have not confirmed their subscription to a topic.
	Pending(ctx context.Context, topic string) ([]string, error)
	// Sends reports whether Amazon SES has verified a domain, and whether the account may send to any address.
	Sends(ctx context.Context, domain string) (verified, production bool, err error)
	// Trails reports whether a trail of CloudTrail that is on logs the region.
	Trails(ctx context.Context) (bool, error)
	// LogRole returns the role by which API Gateway writes logs.
	LogRole(ctx context.Context) (string, error)
}

// Errors of the methods of Account.
var (
	ErrMissing     = errors.New("it does not exist")
	ErrUnsupported = errors.New("this AWS does not have it")
	ErrDenied      = errors.New("the credentials may not do it")
)

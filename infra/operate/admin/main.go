// Command admin is the operator's tool. It creates and changes accounts, adds to and corrects
// their balance, and makes and revokes their API keys. These commands use the state table that
// TABLE_NAME or --table names, and the default AWS configuration.
//
// It also lists and sends back the dead letters of the stacks that STACK_NAME or --stack names,
// stores the credentials of providers and the applications at platforms in the secrets that
// PROVIDER_SECRET, PLATFORM_SECRET or --secret name, moves functions between versions, checks
// restored tables, exports and erases accounts, and checks the audit log.
//
// Every change is written to the audit table that AUDIT_TABLE_NAME or --audit-table names. For
// the local system, `make run` writes all of these variables to .local/aws-env.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/content-automation/api/pkg/base/errs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root(os.Stdout, open, openWork, openAudit).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "admin:", sentence(err))
		stop()
		os.Exit(1)
	}
}

// sentence returns an error as a sentence for an operator: its public message, if any, and its
// cause.
func sentence(err error) string {
	var e *errs.Error
	if errors.As(err, &e) && e.Cause == nil {
		return e.Message
	}
	return err.Error()
}

func show(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

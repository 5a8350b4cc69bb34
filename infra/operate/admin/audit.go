package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// auditLog is an audit table with the clock of its entries.
type auditLog struct {
	db  *store.DB
	now func() time.Time
}

// openAudit connects to the audit table.
func openAudit(ctx context.Context, table string) (auditLog, error) {
	if table == "" {
		return auditLog{}, errors.New("name the audit table by --audit-table or AUDIT_TABLE_NAME: it is the output " +
			"AuditTableName of the data stack")
	}
	cfg, err := configuration(ctx)
	return auditLog{store.Open(cfg, table), time.Now}, err
}

// auditing opens the audit log for the commands, and names the operator who runs them.
type auditing struct {
	open            func(ctx context.Context, table string) (auditLog, error)
	table, operator string
}

func (a *auditing) flags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.StringVar(&a.table, "audit-table", os.Getenv("AUDIT_TABLE_NAME"), "name of the audit table")
	f.StringVar(&a.operator, "operator", cmp.Or(os.Getenv("USER"), "unknown"),
		"who runs the command, for the audit log")
}

// record makes every command write to the audit log, except those that only read. Without an
// audit table, such a command changes nothing.
func (a *auditing) record(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		a.record(sub)
	}
	run := cmd.RunE
	if cmd.HasSubCommands() || slices.Contains(readers, cmd.Name()) {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		log, err := a.open(cmd.Context(), a.table)
		if err != nil {
			return err
		}
		entry := audit.Command{
			Operator: a.operator, Operation: strings.ReplaceAll(cmd.CommandPath(), " ", "."),
			Line: strings.Join(append([]string{cmd.CommandPath()}, args...), " "), Began: log.now(),
		}
		entry.Err = run(cmd, args)
		entry.Account = accountOf(cmd, args)
		if err := audit.New(log.db, log.now).RecordCommand(context.WithoutCancel(cmd.Context()), entry); err != nil {
			return errors.Join(entry.Err, fmt.Errorf("the command has run, but the audit log does not have it: %w",
				err))
		}
		return entry.Err
	}
}

// readers are the commands that change nothing, and reveal none of a customer's data.
var readers = []string{"list", "restore-check", "verify"}

// madeAccount is the annotation of a command with the account that it has created or found.
const madeAccount = "account"

// accountOf returns the account that a command concerns.
func accountOf(cmd *cobra.Command, args []string) tenant.Account {
	if made := cmd.Annotations[madeAccount]; made != "" {
		return tenant.Account(made)
	}
	if len(args) > 0 && id.Valid(id.Account, args[0]) {
		return tenant.Account(args[0])
	}
	return audit.System
}

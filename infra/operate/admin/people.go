package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/connection/cognito"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

func (s *services) people() *person.Service { return person.NewService(s.db, s.now, rand.Reader) }

// personCommand has what the operator does before there is an owner, or when none can sign in.
func personCommand(out io.Writer, s *services) *cobra.Command {
	cmd := group("person", "Invite, list and remove the people of an account")
	var email, name, role, base string
	invite := &cobra.Command{Use: "invite ACCOUNT", Short: "Invite a person; the link is printed only now",
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			account := tenant.Account(args[0])
			if _, _, err := s.accounts.Get(cmd.Context(), account); err != nil {
				return err
			}
			address, err := person.Address(email, "/email")
			if err != nil {
				return err
			}
			if !auth.Role(role).Known() {
				return errs.Invalid("/role", "must be owner, admin, developer or auditor")
			}
			tx := &store.Tx{}
			r, token, err := s.people().Invite(tx, person.New{Account: account, Email: address,
				Name: person.CleanName(name), Role: auth.Role(role), By: "operator"})
			if err == nil {
				err = s.db.Commit(cmd.Context(), tx)
			}
			if err != nil {
				return err
			}
			return show(out, people.Invited{Person: r.Person, InvitationURL: people.URL(base, token)})
		}}
	invite.Flags().StringVar(&email, "email", "", "e-mail address")
	invite.Flags().StringVar(&name, "name", "", "name")
	invite.Flags().StringVar(&role, "role", string(auth.Owner), "owner, admin, developer or auditor")
	invite.Flags().StringVar(&base, "url", os.Getenv("BASE_URL"), "address of the API, for the link")
	_ = invite.MarkFlagRequired("email")
	list := &cobra.Command{Use: "list ACCOUNT", Short: "List the people of an account", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.people().Each(cmd.Context(), tenant.Account(args[0]), func(r person.Record, _ store.Item) error {
				_, err := fmt.Fprintf(out, "%s  %-9s  %-7s  %s\n", r.ID, r.Role, r.State, r.Email)
				return err
			})
		}}
	remove := &cobra.Command{Use: "remove ACCOUNT PERSON", Short: "Remove a person; the next request is refused",
		Args: cobra.ExactArgs(2), RunE: func(cmd *cobra.Command, args []string) error {
			r, err := s.people().Change(cmd.Context(), tenant.Account(args[0]), args[1],
				func(tx *store.Tx, r *person.Record, it store.Item) error { return s.people().Remove(tx, r, it) })
			if err != nil {
				return err
			}
			return show(out, r.Person)
		}}
	var off bool
	breakGlass := &cobra.Command{Use: "break-glass ACCOUNT PERSON",
		Short: "Let an owner sign in without the connection even if sign-on is enforced", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := s.people().SetBreakGlass(cmd.Context(), tenant.Account(args[0]), args[1], !off)
			if err != nil {
				return err
			}
			return show(out, r.Person)
		}}
	breakGlass.Flags().BoolVar(&off, "off", false, "do not let the owner")
	cmd.AddCommand(invite, list, remove, breakGlass)
	return cmd
}

// openPool connects to the user pool.
func openPool(ctx context.Context, pool string) (connection.Pool, error) {
	if pool == "" {
		return nil, errors.New("name the user pool by USER_POOL_ID: it is an output of the stack data")
	}
	cfg, err := configuration(ctx)
	if err != nil {
		return nil, err
	}
	return cognito.New(cfg, pool, ""), nil
}

// connectionCommand manages the sign-on connections of an account.
func connectionCommand(out io.Writer, s *services,
	open func(ctx context.Context, pool string) (connection.Pool, error)) *cobra.Command {
	cmd := group("connection", "Manage the sign-on connections of an account")
	var pool connection.Pool
	service := func() *connection.Service {
		return connection.NewService(s.db, s.now, rand.Reader, net.DefaultResolver, pool)
	}
	// add adds a command on a connection, or on an account for a new one.
	add := func(use, short string, args int,
		run func(context.Context, tenant.Account, []string) (any, error)) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(args),
			RunE: func(cmd *cobra.Command, args []string) error {
				v, err := run(cmd.Context(), tenant.Account(args[0]), args[1:])
				if err != nil {
					return err
				}
				return show(out, v)
			}}
		cmd.AddCommand(c)
		return c
	}
	var name, role string
	create := add("create ACCOUNT", "Create a connection", 1, func(ctx context.Context, account tenant.Account,
		_ []string) (any, error) {
		if _, _, err := s.accounts.Get(ctx, account); err != nil {
			return nil, err
		}
		given := auth.Role(role)
		return service().Create(ctx, account, connection.Settings{Name: &name, DefaultRole: &given})
	})
	create.Flags().StringVar(&name, "name", "", "name, such as that of the provider")
	create.Flags().StringVar(&role, "default-role", string(auth.Developer), "role of people without a group that has one")
	_ = create.MarkFlagRequired("name")
	var update *cobra.Command
	var newName, newRole string
	var groups []string
	update = add("update ACCOUNT CONNECTION", "Change the name, or the roles that people get", 2,
		func(ctx context.Context, account tenant.Account, args []string) (any, error) {
			var set connection.Settings
			if update.Flags().Changed("name") {
				set.Name = &newName
			}
			if given := auth.Role(newRole); given != "" {
				set.DefaultRole = &given
			}
			if update.Flags().Changed("group") {
				set.GroupRoles, set.By = connection.ParseGroupRoles(slices.Values(groups)), authority.Operator()
			}
			return service().Update(ctx, account, args[0], set)
		})
	update.Flags().StringVar(&newName, "name", "", "name, such as that of the provider")
	update.Flags().StringVar(&newRole, "default-role", "", "role of people without a group that has one")
	update.Flags().StringArrayVar(&groups, "group", nil, `role of a group, such as "Social team=developer". Repeat it for `+
		`each group, since all are replaced; "" removes all`)
	add("list ACCOUNT", "List the connections", 1, func(ctx context.Context, account tenant.Account,
		_ []string) (any, error) {
		return service().List(ctx, account)
	})
	add("add-domain ACCOUNT CONNECTION DOMAIN", "Add an e-mail domain, and print the TXT record that it needs", 3,
		func(ctx context.Context, account tenant.Account, args []string) (any, error) {
			return service().AddDomain(ctx, account, args[0], args[1])
		})
	add("verify-domain ACCOUNT CONNECTION DOMAIN", "Look the TXT record of a domain up", 3,
		func(ctx context.Context, account tenant.Account, args []string) (any, error) {
			return service().VerifyDomain(ctx, account, args[0], args[1])
		})
	add("setup-link ACCOUNT CONNECTION", "Make a link for the customer's IT, which works once within 7 days", 2,
		func(ctx context.Context, account tenant.Account, args []string) (any, error) {
			set, err := service().OpenSetup(ctx, account, args[0], authority.Operator())
			return map[string]any{"path": "/setup#" + set.Token, "ends": set.Ends}, err
		})
	add("confirm ACCOUNT CONNECTION", "Confirm the present provider, so that owners can sign in by it, if none of them can "+
		"sign in otherwise", 2, func(ctx context.Context, account tenant.Account, args []string) (any, error) {
		c, _, err := service().Find(ctx, account, args[0])
		if err != nil {
			return nil, err
		}
		return service().Confirm(ctx, account, c.ID, c.ProviderID(), authority.Operator())
	})
	add("scim-token ACCOUNT CONNECTION", "Make the token by which the directory calls SCIM; it is printed only now", 2,
		func(ctx context.Context, account tenant.Account, args []string) (any, error) {
			token, err := service().OpenDirectory(ctx, account, args[0])
			return map[string]any{"path": "/scim/v2", "token": token}, err
		})
	var off bool
	enforce := add("enforce ACCOUNT CONNECTION", "Let people of the verified domains sign in by the connection only", 2,
		func(ctx context.Context, account tenant.Account, args []string) (any, error) {
			return service().Enforce(ctx, account, args[0], !off)
		})
	enforce.Flags().BoolVar(&off, "off", false, "let them sign in otherwise too")
	var p connection.Provider
	provider := add("set-provider ACCOUNT CONNECTION", "Set the SAML or OpenID Connect provider; the secret of a client "+
		"is read from CLIENT_SECRET", 2, func(ctx context.Context, account tenant.Account, args []string) (_ any, err error) {
		p.ClientSecret = os.Getenv("CLIENT_SECRET")
		p.Kind = connection.OIDC
		if p.MetadataURL != "" {
			p.Kind = connection.SAML
		}
		if pool, err = open(ctx, os.Getenv("USER_POOL_ID")); err != nil {
			return nil, err
		}
		return service().SetProvider(ctx, account, args[0], p)
	})
	provider.Flags().StringVar(&p.MetadataURL, "metadata-url", "", "URL of the metadata of a SAML provider")
	provider.Flags().StringVar(&p.Issuer, "issuer", "", "issuer of an OpenID Connect provider")
	provider.Flags().StringVar(&p.ClientID, "client-id", "", "id of the client at the provider")
	add("remove ACCOUNT CONNECTION", "Remove a connection and all access by it", 2, func(ctx context.Context,
		account tenant.Account, args []string) (any, error) {
		return map[string]string{"removed": args[0]}, service().Remove(ctx, account, args[0])
	})
	return cmd
}

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

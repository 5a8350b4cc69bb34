package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/spf13/cobra"

	"github.com/content-automation/api/infra/operate/preflight"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// services are the services that the commands use.
type services struct {
	accounts *account.Service
	keys     *apikey.Service
	db       *store.DB
	now      func() time.Time
	// quotas returns the quotas of a service of the account.
	quotas func(ctx context.Context, service string) ([]preflight.Quota, error)
}

// open connects to the state table.
func open(ctx context.Context, table string) (services, error) {
	if table == "" {
		return services{}, errors.New("name the state table by --table or TABLE_NAME: it is the output TableName of " +
			"the data stack")
	}
	cfg, err := configuration(ctx)
	if err != nil {
		return services{}, err
	}
	db := store.Open(cfg, table)
	accounts := account.NewService(db, time.Now)
	return services{accounts, apikey.NewService(db, accounts, time.Now, rand.Reader), db, time.Now,
		preflight.AWS{Config: cfg}.Quotas}, nil
}

// configuration returns the default AWS configuration of the operator's machine.
func configuration(ctx context.Context) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err == nil && cfg.Region == "" {
		err = errors.New("name the region by AWS_REGION")
	}
	return cfg, err
}

// root makes the command with its subcommands. They print to out.
func root(out io.Writer, open func(context.Context, string) (services, error),
	openWork func(context.Context, string) (*work, error),
	openAudit func(context.Context, string) (auditLog, error)) *cobra.Command {
	var table string
	var s services
	cmd := &cobra.Command{
		Use: "admin", Short: "Manage the accounts, their people and sign-on, the dead letters, the providers, the " +
			"platforms, the canary, the releases, the analytics and the audit log of a deployed or local system",
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			if !cmd.HasSubCommands() { // Such commands only show their help.
				s, err = open(cmd.Context(), table)
			}
			return err
		},
	}
	cmd.SetOut(out)
	log := &auditing{open: openAudit}
	log.flags(cmd)
	cmd.PersistentFlags().StringVar(&table, "table", os.Getenv("TABLE_NAME"), "name of the state table")
	cmd.AddCommand(accountCommand(out, &s), keyCommand(out, &s), deadLettersCommand(out, openWork),
		providersCommand(out, keep), platformsCommand(out, keep), canaryCommand(out, keep), callerCommand(out, keep),
		personCommand(out, &s), connectionCommand(out, &s, openPool),
		analyticsCommand(out, &s), releaseCommand(out, openReleases), restoreCheckCommand(out, openData),
		rehearseCommand(out),
		itemCommand(out, &s), providerCommand(out, &s), provenanceCommand(out, &s, openKeys))
	cmd.AddCommand(haltCommands(out, openDeployment)...)
	log.record(cmd)
	return cmd
}

// group makes a command that only has subcommands. It returns an error for an unknown
// name, for which cobra would show the help and succeed.
func group(use, short string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
}

func accountCommand(out io.Writer, s *services) *cobra.Command {
	cmd := group("account", "Create, change and list accounts, and keep their balance")
	create := &cobra.Command{Use: "create", Short: "Create an account", Args: cobra.NoArgs}
	settings := accountFlags(create)
	_ = create.MarkFlagRequired("name")
	create.RunE = func(cmd *cobra.Command, _ []string) error {
		a, err := s.accounts.Create(cmd.Context(), settings())
		if err != nil {
			return err
		}
		cmd.Annotations = map[string]string{madeAccount: a.ID}
		return show(out, a)
	}
	update := &cobra.Command{Use: "update ACCOUNT", Short: "Change an account; its keys follow on the next request",
		Args: cobra.ExactArgs(1)}
	changes := accountFlags(update)
	update.RunE = func(cmd *cobra.Command, args []string) error {
		set := changes()
		if set == (account.Settings{}) {
			return errors.New("nothing to change: give the settings that are to be others, such as --plan")
		}
		a, err := s.accounts.Update(cmd.Context(), tenant.Account(args[0]), set)
		if err != nil {
			return err
		}
		return show(out, a)
	}
	list := &cobra.Command{Use: "list", Short: "List all accounts", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.accounts.All(cmd.Context(), func(a account.Account) error {
				_, err := fmt.Fprintf(out, "%s  %-10s  %s\n", a.ID, a.Plan, a.Name)
				return err
			})
		}}
	var credits int64
	topUp := &cobra.Command{Use: "top-up ACCOUNT", Short: "Add credits to a balance", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := s.accounts.TopUp(cmd.Context(), tenant.Account(args[0]), credits)
			if err != nil {
				return err
			}
			return show(out, e)
		}}
	topUp.Flags().Int64Var(&credits, "credits", 0, "credits to add")
	_ = topUp.MarkFlagRequired("credits")
	var signed int64
	var reason string
	adjust := &cobra.Command{Use: "adjust ACCOUNT", Short: "Correct a balance; it never falls below zero",
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			e, err := s.accounts.Adjust(cmd.Context(), tenant.Account(args[0]), signed, reason)
			if err != nil {
				return err
			}
			return show(out, e)
		}}
	adjust.Flags().Int64Var(&signed, "credits", 0, "credits to add; negative to subtract")
	adjust.Flags().StringVar(&reason, "reason", "", "reason, for the log; the customer does not see it")
	_ = adjust.MarkFlagRequired("credits")
	_ = adjust.MarkFlagRequired("reason")
	cmd.AddCommand(append(dataCommands(out, openData), create, update, list, topUp, adjust)...)
	return cmd
}

// accountFlags adds the flags of an account's settings, and returns a function that reads
// the flags that were set.
func accountFlags(cmd *cobra.Command) func() account.Settings {
	f := cmd.Flags()
	name := f.String("name", "", "name of the account")
	plan := f.String("plan", auth.EnterprisePlan, fmt.Sprintf("one of %v; only enterprise may use the API",
		account.Plans))
	test := f.Int("test-limit", account.DefaultRateLimits.Test, "calls a minute of a test key")
	live := f.Int("live-limit", account.DefaultRateLimits.Live, "calls a minute of a live key")
	ips := f.StringSlice("ip-allow", nil, "address range that calls may come from; repeat it, or give it empty to "+
		"allow all")
	low := f.Int64("low-threshold", 1000, "credits below which balance.low is sent")
	lost := f.Int64("lost-spend-limit", ledger.DefaultLostLimit, "credits that work which failed or was canceled may "+
		"cost a day without being charged")
	pages := f.StringSlice("return-url", nil, "page that the browser of a social account's owner may be sent back "+
		"to; repeat it, or give it empty to allow none")
	return func() account.Settings {
		var set account.Settings
		if f.Changed("name") {
			set.Name = name
		}
		if f.Changed("plan") {
			set.Plan = plan
		}
		if f.Changed("test-limit") {
			set.TestLimit = test
		}
		if f.Changed("live-limit") {
			set.LiveLimit = live
		}
		if f.Changed("ip-allow") {
			list := filled(*ips)
			set.IPAllowList = &list
		}
		if f.Changed("return-url") {
			list := filled(*pages)
			set.ReturnURLs = &list
		}
		if f.Changed("low-threshold") {
			set.LowThreshold = low
		}
		if f.Changed("lost-spend-limit") {
			set.LostSpendLimit = lost
		}
		return set
	}
}

// filled returns the strings that are not empty.
func filled(texts []string) []string {
	list := []string{}
	for _, s := range texts {
		if s != "" {
			list = append(list, s)
		}
	}
	return list
}

func keyCommand(out io.Writer, s *services) *cobra.Command {
	cmd := group("key", "Make, list and revoke API keys")
	var kind, name string
	var scopes []string
	var spend int64
	create := &cobra.Command{Use: "create ACCOUNT", Short: "Create a key; its secret is printed only now",
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			mode := tenant.Mode(kind)
			if mode != tenant.Live && mode != tenant.Test {
				return errors.New("--kind must be live or test")
			}
			set := apikey.Settings{Name: name}
			for _, scope := range scopes {
				set.Scopes = append(set.Scopes, auth.Scope(scope))
			}
			if len(scopes) == 0 {
				set.Scopes = auth.AllScopes()
			}
			if cmd.Flags().Changed("spend-limit") {
				set.SpendLimit = &spend
			}
			k, err := s.keys.Issue(cmd.Context(), tenant.Account(args[0]), mode, set)
			if err != nil {
				return err
			}
			return show(out, k)
		}}
	create.Flags().Int64Var(&spend, "spend-limit", 0, "credits that the key may spend in a calendar month; default: "+
		"no limit")
	create.Flags().StringVar(&kind, "kind", "test", "live or test")
	create.Flags().StringVar(&name, "name", "Created by the operator", "name of the key")
	create.Flags().StringSliceVar(&scopes, "scope", nil, "scope of the key; may be repeated; default: all scopes")
	list := &cobra.Command{Use: "list ACCOUNT", Short: "List the keys of an account", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.keys.All(cmd.Context(), tenant.Account(args[0]), func(k apikey.Key) error {
				_, err := fmt.Fprintf(out, "%s  %-4s  %-7s  %s…%s  %s\n", k.ID, k.Kind, k.State, k.Prefix,
					k.Last4, k.Name)
				return err
			})
		}}
	revoke := &cobra.Command{Use: "revoke ACCOUNT KEY", Short: "Revoke a key at once", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := s.keys.End(cmd.Context(), tenant.Account(args[0]), args[1])
			if err != nil {
				return err
			}
			return show(out, k)
		}}
	cmd.AddCommand(create, list, revoke, findCommand(out, s))
	return cmd
}

func analyticsCommand(out io.Writer, s *services) *cobra.Command {
	cmd := group("analytics", "Check and correct the sums of the analytics")
	add := func(use, short, long string, inspect func(context.Context, *store.DB, string,
		time.Time) (analytics.Report, error)) {
		c := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs}
		factory := c.Flags().String("factory", "", "id of the factory")
		_ = c.MarkFlagRequired("factory")
		c.RunE = func(cmd *cobra.Command, _ []string) error {
			r, err := inspect(cmd.Context(), s.db, *factory, s.now())
			if r.Account == "" {
				return err
			}
			cmd.Annotations = map[string]string{madeAccount: string(r.Account)}
			return errors.Join(err, show(out, r))
		}
		cmd.AddCommand(c)
	}
	add("verify", "Compute the sums of a factory anew, and compare them with those that are stored",
		"Compute the sums of a factory from its content items, and from the kept counts of deleted ones, "+
			"and compare them with those that are stored. The command fails and names the differences. It changes "+
			"nothing.", analytics.Verify)
	add("rebuild", "Compute the sums of a factory anew, and correct those that are stored",
		"Compute the sums of a factory as verify does, and correct the differences. Changes of the content are counted "+
			"meanwhile. Days become those of the factory's present time zone.", analytics.Rebuild)
	return cmd
}

// itemCommand makes the command that prints an item of the state table, because the console
// cannot show compressed documents.
func itemCommand(out io.Writer, s *services) *cobra.Command {
	return &cobra.Command{
		Use: "item PARTITION [SORT]", Short: "Print a stored item with its document", Args: cobra.RangeArgs(1, 2),
		Example: "admin item cnt_01h455vb4pex5vsknk084sn02q",
		RunE: func(cmd *cobra.Command, args []string) error {
			key := store.IDKey(args[0])
			if len(args) == 2 {
				key.SK = args[1]
			}
			it, err := s.db.Get(cmd.Context(), key)
			if err != nil {
				return err
			}
			return show(out, struct {
				Partition, Sort, Kind, Account, Mode string
				Version                              int64
				Filters, Attributes                  map[string]string
				Numbers                              map[string]int64
				Document                             json.RawMessage `json:",omitempty"`
			}{it.PK, it.SK, it.Kind, string(it.Account), string(it.Mode), it.Version, it.Filters, it.Attributes,
				it.Numbers, it.Doc})
		},
	}
}

// maxReport is the greatest size in bytes of the text that is searched for keys.
const maxReport = 16 << 20

// findCommand makes the command for reports of leaked keys. It reads secrets from standard
// input, so that no list of processes and no history shows them.
func findCommand(out io.Writer, s *services) *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use: "find", Short: "Read a text from standard input, and name the keys whose secrets are in it",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxReport))
			if err != nil {
				return err
			}
			for _, secret := range regexp.MustCompile(auth.Pattern).FindAllString(string(text), -1) {
				shown := secret[:auth.PrefixLength] + "…" + secret[len(secret)-4:]
				if _, ok := auth.ParseKey(secret); !ok {
					fmt.Fprintf(out, "%s  is no key: its checksum is wrong\n", shown)
					continue
				}
				account, k, err := s.keys.FindSecret(cmd.Context(), secret)
				if errors.Is(err, store.ErrNotFound) {
					fmt.Fprintf(out, "%s  is unknown here\n", shown)
					continue
				}
				if err != nil {
					return err
				}
				if revoke && k.State != keyrecord.Revoked {
					if k, err = s.keys.End(cmd.Context(), account, k.ID); err != nil {
						return err
					}
					cmd.Annotations = map[string]string{madeAccount: string(account)}
				}
				fmt.Fprintf(out, "%s  %s  %s  %s\n", shown, account, k.ID, k.State)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "revoke these keys")
	return cmd
}

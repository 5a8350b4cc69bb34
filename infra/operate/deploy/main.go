// Command deploy deploys the stacks of a customer (`make deploy`) or of all customers (`make deploy-all`). It shows the
// changes of a deployment (`make diff`) and the changes made without one (`make drift`), writes the templates (`make
// synth`), and destroys the stacks (`make destroy`). It prepares the account (`make bootstrap`), checks whether it is
// ready (`make preflight`), and shows where the data goes (`make residency`).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/operate/preflight"
	"github.com/content-automation/api/pkg/base/backoff"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// order is an action and the stacks that it applies to.
type order struct {
	customer.Settings
	// context are the context values that name the stacks, for the CDK.
	context []string
	// approval says when the CDK asks before it changes permissions.
	approval string
	// confirmed skips the question before stacks are destroyed. data also destroys the stack
	// of the data.
	confirmed, data bool
	// credentials belong to the customer's account. If nil, those of the command are used.
	credentials aws.CredentialsProvider
	// built reports that the functions are built, so that the CDK need not do it.
	built bool
	// folder gets the synthesised templates. If it is empty, build/deploy does.
	folder string
	// log takes the output of the CDK. If it is nil, the terminal does.
	log io.Writer
}

// config returns the AWS configuration for the region of the order.
func (o order) config(ctx context.Context) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithRegion(o.Region)}
	if o.credentials != nil {
		options = append(options, config.WithCredentialsProvider(o.credentials))
	}
	return config.LoadDefaultConfig(ctx, options...)
}

var actions = map[string]func(ctx context.Context, o order, in io.Reader, out io.Writer) error{
	"preflight": check,
	"residency": residency,
	"bootstrap": bootstrap,
	"deploy":    deploy,
	"diff": func(ctx context.Context, o order, _ io.Reader, _ io.Writer) error {
		return cdk(ctx, o, "diff", "--all")
	},
	"drift": func(ctx context.Context, o order, _ io.Reader, out io.Writer) error {
		s, _, err := connect(ctx, o)
		if err != nil {
			return err
		}
		return drift(ctx, o, s, wait, out)
	},
	"synth": func(ctx context.Context, o order, _ io.Reader, _ io.Writer) error {
		return runCDK(ctx, o, append([]string{"synth", "--quiet"}, o.context...)...)
	},
	"destroy": destroy,
}

// wait waits between two questions about what AWS has begun.
func wait(d time.Duration) { <-time.After(d) }

// deploy deploys the stacks, and then protects them, even after a failure: the CDK ends the protection of each stack
// that it deploys. It also offers the providers of people again then. After a success it deletes old versions of
// functions.
func deploy(ctx context.Context, o order, in io.Reader, out io.Writer) error {
	if err := check(ctx, o, in, out); err != nil {
		return err
	}
	if err := prepareRestored(ctx, o, wait); err != nil {
		return err
	}
	err := stackDeployment(o).stacks(ctx, o.approval)
	after := context.WithoutCancel(ctx)
	failed := errors.Join(offerProviders(after, o), protectAll(after, o))
	if err == nil {
		failed = errors.Join(failed, shareKey(ctx, o))
		pruneVersions(ctx, o, out)
	}
	return errors.Join(err, failed)
}

// stackDeployment returns the deployment of an order by the CDK.
func stackDeployment(o order) deployment {
	folder := o.folder
	if folder == "" {
		folder = filepath.Join("build", "deploy", o.Name())
	}
	return deployment{folder: folder, deployed: o.deployedTemplate,
		cdk: func(ctx context.Context, args ...string) error {
			if args[0] != "synth" {
				return runCDK(ctx, o, append(args, "--build", "true")...)
			}
			if o.built {
				args = append(args, "--build", "true")
			}
			return cdk(ctx, o, args...)
		}}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) > 0 && (args[0] == "deploy-all" || args[0] == "diff-all") {
		return all(ctx, args[0] == "diff-all", args[1:], out)
	}
	if len(args) == 0 || actions[args[0]] == nil {
		return errors.New("name an action: residency, preflight, bootstrap, synth, deploy, diff, drift or destroy, or " +
			"for all customers deploy-all or diff-all")
	}
	o, err := read(args[1:])
	if err != nil {
		return err
	}
	if o.Local() && args[0] != "preflight" {
		return errors.New("the customer local is deployed by `make stack` alone")
	}
	return actions[args[0]](ctx, o, in, out)
}

// read reads the order from the flags and cdk.json.
func read(args []string) (o order, err error) {
	values := map[string]*string{}
	flags := flag.NewFlagSet("deploy", flag.ContinueOnError)
	for _, name := range named {
		values[name] = flags.String(name, "", "see customer.Settings")
	}
	flags.StringVar(&o.approval, "approval", "broadening", "when to ask before permissions change: never, broadening "+
		"or any-change")
	flags.BoolVar(&o.confirmed, "yes", false, "destroy without a question")
	flags.BoolVar(&o.data, "data", false, "destroy the stack of the data as well")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	context, err := cdkContext()
	if err != nil {
		return o, err
	}
	for _, name := range named {
		if value := *values[name]; value != "" {
			context[name] = value
			o.context = append(o.context, "-c", name+"="+value)
		}
	}
	o.Settings, err = customer.Read(func(key string) any { return context[key] })
	return o, err
}

// named are the context values that select the stacks and the deployed version.
var named = []string{"customer", "stage", "region", "arch", "version"}

// cdkContext returns the context of cdk.json.
func cdkContext() (map[string]any, error) {
	data, err := os.ReadFile("cdk.json")
	if err != nil {
		return nil, err
	}
	var file struct{ Context map[string]any }
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("read cdk.json: %w", err)
	}
	return file.Context, nil
}

// check checks the account, in both regions of a customer with a replica.
func check(ctx context.Context, o order, _ io.Reader, out io.Writer) error {
	var failed []error
	for _, of := range o.regions() {
		if _, err := fmt.Fprintln(out, of.Region); err != nil {
			return err
		}
		cfg, err := of.config(ctx)
		if err != nil {
			return err
		}
		results, err := preflight.Run(ctx, preflight.AWS{Config: cfg, Wait: backoff.Sleep}, of.Settings, time.Now())
		if err != nil {
			return err
		}
		failed = append(failed, preflight.Report(out, results))
	}
	return errors.Join(failed...)
}

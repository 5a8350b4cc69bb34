package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/operate/preflight"
	"github.com/content-automation/api/pkg/record/connection/cognito"
)

// cdk runs a command of the CDK CLI that synthesises the stacks of the order.
func cdk(ctx context.Context, o order, args ...string) error {
	known, err := lookUp(ctx, o)
	if err != nil {
		return err
	}
	providers, err := offered(ctx, o)
	if err != nil {
		return err
	}
	return runCDK(ctx, o, slices.Concat(args, o.context, known, providers)...)
}

// runCDK runs a command of the CDK CLI with the credentials of the order. It looks nothing up for a synthesis.
func runCDK(ctx context.Context, o order, args ...string) error {
	cmd, err := command(ctx, args...)
	if err != nil {
		return err
	}
	// The build of cdk.json needs the architecture of the stacks.
	cmd.Env = append(os.Environ(), "ARCH="+o.Arch)
	if o.log != nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, o.log, o.log
	}
	if o.credentials != nil {
		c, err := o.credentials.Retrieve(ctx)
		if err != nil {
			return fmt.Errorf("credentials of the account %s: %w", o.Account, err)
		}
		// With a profile, the CDK would ignore the other variables.
		cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "AWS_PROFILE=") })
		cmd.Env = append(cmd.Env, "AWS_ACCESS_KEY_ID="+c.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+c.SecretAccessKey,
			"AWS_SESSION_TOKEN="+c.SessionToken)
	}
	return cmd.Run()
}

func command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, err := filepath.Abs(filepath.Join(".tools", "node", "node_modules", ".bin", "cdk"))
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, append(args, "--no-notices")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd, nil
}

// bootstrap prepares the account for the CDK.
func bootstrap(ctx context.Context, o order, _ io.Reader, _ io.Writer) error {
	args := []string{"bootstrap"}
	for _, of := range o.regions() {
		args = append(args, "aws://"+of.Account+"/"+of.Region)
	}
	cmd, err := command(ctx, args...)
	if err != nil {
		return err
	}
	// In another folder than that of cdk.json, whose app is not needed.
	cmd.Dir = os.TempDir()
	return cmd.Run()
}

// destroy destroys the stacks after a question. It destroys the protected stack of the data
// only if the order says so.
func destroy(ctx context.Context, o order, in io.Reader, out io.Writer) error {
	var stacks []string
	for _, part := range slices.Backward(customer.Parts) {
		if o.data || part != "data" {
			stacks = append(stacks, o.StackName(part))
		}
	}
	if !o.confirmed {
		if err := confirm(o, stacks, in, out); err != nil {
			return err
		}
	}
	s, _, err := connect(ctx, o)
	if err != nil {
		return err
	}
	if err := unprotect(ctx, s, stacks); err != nil {
		return err
	}
	if err := cdk(ctx, o, append([]string{"destroy", "--force"}, stacks...)...); err != nil {
		return err
	}
	kept := "The stack " + o.Name() + "-data is kept: DATA=yes destroys it as well."
	if o.data {
		kept = "The tables, the media bucket, the keys and the secrets are kept: delete them by hand, if you have to."
	}
	_, err = fmt.Fprintln(out, kept)
	return err
}

// confirm requires the operator to type the name of the deployment.
func confirm(o order, stacks []string, in io.Reader, out io.Writer) error {
	if _, err := fmt.Fprintf(out, "This destroys %s in the account %s.\nType %s to go on: ", strings.Join(stacks, ", "),
		o.Account, o.Name()); err != nil {
		return err
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(line) != o.Name() {
		return errors.New("nothing was destroyed")
	}
	return nil
}

// offered returns the context value with the providers of the user pool, so that a deployment leaves them in its client
// all the time. There is none before the first deployment.
func offered(ctx context.Context, o order) ([]string, error) {
	cfg, err := o.config(ctx)
	if err != nil {
		return nil, err
	}
	outputs, err := preflight.AWS{Config: cfg}.Outputs(ctx, o.StackName("data"))
	if errors.Is(err, preflight.ErrMissing) || err == nil && outputs["UserPoolId"] == "" {
		return nil, nil
	}
	var names []string
	if err == nil {
		names, err = cognito.New(cfg, outputs["UserPoolId"], "").Providers(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("read the providers of the user pool of %s: %w", o.Name(), err)
	}
	text, err := json.Marshal(names)
	return []string{"-c", "offered=" + string(text)}, err
}

// offerProviders lets people sign in by all providers of the user pool after a deployment: one that was added during it
// is not in the template. A system without a pool has none.
func offerProviders(ctx context.Context, o order) error {
	cfg, err := o.config(ctx)
	if err != nil {
		return err
	}
	return offerAll(ctx, o, preflight.AWS{Config: cfg}.Outputs, func(pool, client string) error {
		return cognito.New(cfg, pool, client).OfferAll(ctx)
	})
}

// offerAll calls offer with the ids of the user pool and its client, once both are in the outputs of the stacks.
func offerAll(ctx context.Context, o order, outputs func(context.Context, string) (map[string]string, error),
	offer func(pool, client string) error) error {
	ids := map[string]string{}
	for _, part := range []string{"data", "api"} {
		some, err := outputs(ctx, o.StackName(part))
		if errors.Is(err, preflight.ErrMissing) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the stack %s: %w", o.StackName(part), err)
		}
		maps.Copy(ids, some)
	}
	pool, client := ids["UserPoolId"], ids["UserPoolClientId"]
	if pool == "" || client == "" {
		return nil
	}
	if err := offer(pool, client); err != nil {
		return fmt.Errorf("offer the providers of the user pool %s: %w", pool, err)
	}
	return nil
}

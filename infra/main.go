// Command infra is the CDK app: it synthesises the stacks of the customer, stage and
// region that the context names (`cdk synth -c customer=acme -c region=eu-central-1`).
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/stack"
	"github.com/content-automation/api/pkg/service/api"
)

func main() {
	code := 0
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	stack.CloseKernel()
	os.Exit(code)
}

func run() error {
	app := awscdk.NewApp(nil)
	context := func(key string) any { return app.Node().TryGetContext(jsii.String(key)) }
	settings, err := customer.Read(context)
	if err != nil {
		return err
	}
	if err := stack.Add(app, settings, api.Routes()); err != nil {
		return err
	}
	app.Synth(nil)
	return nil
}

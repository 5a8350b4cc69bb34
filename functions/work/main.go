// Command work is the program of the functions that work in the background.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/awsworker"
)

func main() {
	metric.SetupLog()
	f := needs.Function()
	row := worker.Named(f.Name)
	if row.Prepare != nil {
		row.Prepare()
	}
	lambda.Start(row.Open(awsworker.Open(f)))
}

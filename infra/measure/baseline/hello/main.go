// Command hello is the smallest Lambda function in Go: its start takes only the time of the runtime and the Lambda
// library.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	lambda.Start(func(context.Context) (string, error) { return "hello", nil })
}

// Command hello is the least that a Lambda function in Go can be: what it takes
// to start is what the runtime and the Lambda library take.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	lambda.Start(func(context.Context) (string, error) { return "hello", nil })
}

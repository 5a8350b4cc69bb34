// Command docs is the function behind the paths that need no key: the OpenAPI
// document, the explorer and the health check.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/pkg/service/docs"
)

func main() {
	pages := docs.New(docs.Options{JSON: clients.OpenAPIJSON, Assets: docs.Assets()})
	lambda.Start(docs.Lambda(pages))
}

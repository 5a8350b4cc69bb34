// Command apikey is the Lambda function of the API keys.
package main

import (
	"github.com/content-automation/api/pkg/apikey"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/function"
)

func main() { function.Serve(apikey.Mount, function.Open(needs.Read[needs.Area]())) }

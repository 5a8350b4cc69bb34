// Command apikey is the Lambda function of the API keys.
package main

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/service/function/apikey"
)

func main() { area.Serve(apikey.Mount, area.Open(needs.Read[needs.Area]())) }

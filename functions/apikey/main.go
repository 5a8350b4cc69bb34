// Command apikey is the Lambda function of all that has access to an account: API keys, people, and directories.
package main

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/people/scim"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/service/function/apikey"
)

func main() {
	e := area.Open(needs.Read[needs.Area]())
	area.ServeWith(apikey.Mount, e, scim.Open(e).With)
}

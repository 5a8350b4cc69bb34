// Command crm is the Lambda function of the integrations with CRMs.
package main

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
	"github.com/content-automation/api/pkg/cloud/secret"
)

func main() {
	n := needs.Read[needs.CRM]()
	e := area.Open(n.Area)
	e.Envelope = seal.NewEnvelope(kmsseal.New(e.AWS, n.SecretsKey, account.SealPurpose), e.Now)
	e.Apps, e.PlatformEndpoint = secret.Manager(e.AWS, n.PlatformSecret), n.PlatformEndpoint
	e.Loopback = awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))
	area.ServeWith(crm.Mount, e, crm.Open(e).With)
}

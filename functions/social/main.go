// Command social is the Lambda function of the social accounts.
package main

import (
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/engagement/hint"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
	"github.com/content-automation/api/pkg/cloud/secret"
)

func main() {
	n := needs.Read[needs.Social]()
	e := area.Open(n.Area)
	e.Envelope = seal.NewEnvelope(kmsseal.New(e.AWS, n.SecretsKey, account.SealPurpose), e.Now)
	e.Apps, e.PlatformEndpoint = secret.Manager(e.AWS, n.PlatformSecret), n.PlatformEndpoint
	e.Platforms = registry.With(strings.Split(n.Optional, ","))
	area.ServeWith(social.Mount, e, func(operations http.Handler) http.Handler {
		return hint.Open(e).With(social.Open(e).With(operations))
	})
}

// Package awsarea opens what areas are made from on AWS: clients of its services. Only functions link it.
package awsarea

import (
	"crypto/rand"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/cloud/secret/manager"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// Open returns what a deployed function needs, according to its entry in the table of functions. It panics where
// something is missing, so that a deployment fails.
func Open(f topology.Function) area.Env {
	n, cfg := needs.Read(f), awsenv.Must(awsenv.Config())
	e := area.Env{AWS: cfg, Now: time.Now, Random: rand.Reader, Providers: n.Providers, Mails: n.MailSender != "",
		Loopback: awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))}
	if n.Table != "" {
		e.DB = store.Open(cfg, n.Table)
	}
	if n.AuditTable != "" {
		e.Audit = audit.New(store.Open(cfg, n.AuditTable), time.Now).In(cfg.Region)
	}
	if n.SealSecret != "" {
		e.Seal = stored.Secret(cfg, n.SealSecret, time.Now)
	}
	if n.Bucket != "" {
		e.Media = awsenv.Must(media.NewSigner(cfg, n.Bucket, time.Now))
	}
	if n.SecretsKey != "" {
		purpose := seal.ForSigning
		if f.May(topology.CallPlatforms) {
			purpose = seal.ForTokens
		}
		e.Envelope = seal.NewEnvelope(kmsseal.New(cfg, n.SecretsKey, purpose), time.Now)
	}
	if f.May(topology.CallPlatforms) {
		e.Apps, e.PlatformEndpoint = manager.Secret(cfg, n.PlatformSecret), n.PlatformEndpoint
		e.Platforms = registry.With(strings.Split(n.Platforms, ","))
	}
	if f.May(topology.NameDeliverRole) {
		e.DeliverRole = awsenv.Must(arn.Parse(n.DeliverRole))
	}
	if f.May(topology.CallTextModels) {
		e.Converser = bedrock.Open(cfg, n.ProviderEndpoint, e.Offer().StandIns)
	}
	if f.May(topology.SignDossiers) && n.MediaKey != "" {
		e.Signatures = kmsseal.NewSigner(cfg, n.MediaKey)
	}
	e.Moderator = bedrock.Moderator(cfg, n.Guardrail, n.ProviderEndpoint)
	return e
}

// Command architect is the Lambda function of the chats with the assistant, and of its
// drafts.
package main

import (
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/cloud/needs"
)

func main() {
	n := needs.Read[needs.Architect]()
	e := area.Open(n.Area)
	e.Providers = n.Providers
	endpoint := n.ProviderEndpoint
	if endpoint != "" {
		endpoint += "/" + bedrock.Name
	}
	e.Converser = bedrock.New(bedrock.Config{AWS: e.AWS, Endpoint: endpoint})
	e.Moderator = bedrock.Moderator(e.AWS, n.Guardrail, n.ProviderEndpoint)
	area.Serve(architect.Mount, e)
}

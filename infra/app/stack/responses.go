package stack

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/gatewayresponse"
)

// respond gives the gateway's own responses the envelope of the API. Challenges name the metadata of the service if
// people sign in. The templates of these responses know the gateway's variables, but their headers take one alone or a
// fixed text, so that the address is a fixed one: the customer's name, or that of the gateway.
func (g *gateway) respond(d *data) {
	base := "https://$context.domainName"
	if !g.named {
		base += "/$context.stage"
	}
	for _, a := range gatewayresponse.All {
		headers := map[string]*string{"X-Request-Id": jsii.String("context.requestId")}
		own := a.Headers()
		if d.signOn != nil || d.settings.Local() {
			own = a.HeadersAt(g.address(d))
		}
		for name, value := range own {
			headers[name] = jsii.String("'" + value + "'")
		}
		g.api.AddGatewayResponse(jsii.String(a.Type), &awsapigateway.GatewayResponseOptions{
			Type:            awsapigateway.ResponseType_Of(jsii.String(a.Type)),
			StatusCode:      jsii.String(strconv.Itoa(a.Status())),
			ResponseHeaders: &headers,
			Templates:       &map[string]*string{"application/json": jsii.String(a.Body("$context.requestId", base))},
		})
	}
}

// address returns the address of the API, which is a reference to the gateway if the customer has no name. The proxy of
// the local system puts its own address there.
func (g *gateway) address(d *data) string {
	if d.settings.Local() {
		return "https://$context.domainName/" + d.settings.Stage
	}
	if domain, named := d.settings.Domains[d.settings.Region]; named {
		return "https://" + domain.Name
	}
	return fmt.Sprintf("https://%s.execute-api.%s.%s/%s", *g.api.RestApiId(), d.settings.Region,
		*awscdk.Stack_Of(g.api).UrlSuffix(), d.settings.Stage)
}

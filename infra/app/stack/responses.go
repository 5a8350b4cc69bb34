package stack

import (
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/gatewayresponse"
)

// respond gives the gateway's own responses the envelope of the API.
func (g *gateway) respond() {
	base := "https://$context.domainName"
	if !g.named {
		base += "/$context.stage"
	}
	for _, a := range gatewayresponse.All {
		headers := map[string]*string{"X-Request-Id": jsii.String("context.requestId")}
		for name, value := range a.Headers() {
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

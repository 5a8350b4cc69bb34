package stack_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/api"
)

// Whoever has no client certificate calls another name, which is closed but for their paths.
func TestANameForCallersWithoutACertificate(t *testing.T) {
	entry := maps.Clone(cdkContext()["customers"].(map[string]any)["hooli"].(map[string]any))
	domain := maps.Clone(entry["domains"].(map[string]any)["eu-west-1"].(map[string]any))
	domain["publicName"] = "public.hooli.example"
	domain["certificateArn"] = "arn:aws:acm:eu-west-1:555566667777:certificate/imported"
	domain["ownershipCertificateArn"] = "arn:aws:acm:eu-west-1:555566667777:certificate/owner"
	entry["domains"] = map[string]any{"eu-west-1": domain}
	all := synthesise(t.TempDir(), map[string]any{"customer": "hooli", "customers": map[string]any{"hooli": entry},
		"found": `{"secretsKey": "` + secretsKey + `"}`})
	in := all["hooli-prod-eu-west-1-api"]
	names := map[any]bool{}
	for _, r := range in.Resources {
		if r.Type == "AWS::ApiGateway::DomainName" {
			certified := r.Properties["MutualTlsAuthentication"] != nil
			names[r.Properties["DomainName"]] = certified
			// AWS asks who owns a name with client certificates whose own certificate was imported.
			owner := r.Properties["OwnershipVerificationCertificateArn"]
			if certified != (owner == domain["ownershipCertificateArn"]) {
				t.Errorf("%v has the proof %v", r.Properties["DomainName"], owner)
			}
		}
	}
	if len(names) != 2 || !names["api.hooli.example"] || names["public.hooli.example"] {
		t.Errorf("the names, and whether they need a certificate: %v", names)
	}
	_, firewall := named(t, in, "AWS::WAFv2::WebACL", "Firewall")
	text, err := json.Marshal(list(firewall["Rules"])[len(list(firewall["Rules"]))-1])
	if err != nil {
		t.Fatal(err)
	}
	rule := string(text)
	for _, path := range []string{"/v1/social/callback", "/integrations/callback", "/integrations/hooks/", "/review/",
		"/settings", "/auth/", "/setup", "/scim/v2/"} {
		if !strings.Contains(rule, `"SearchString":"`+path+`"`) {
			t.Errorf("the public name has no %s: %s", path, rule)
		}
	}
	if strings.Count(rule, "SearchString") != len(api.OutsidePaths())+1 || !strings.Contains(rule,
		`"SearchString":"public.hooli.example"`) || !strings.Contains(rule, `"ResponseCode":404`) {
		t.Errorf("the rule of the public name is %s", rule)
	}
	if strings.Contains(rule, "IPSet") {
		t.Errorf("an address may call the API by the public name: %s", rule)
	}
	callers := 0
	for id, r := range all.of("AWS::Lambda::Function") {
		name := strings.TrimPrefix(r.Properties["FunctionName"].(string), "hooli-prod-")
		url := r.Properties.at("Environment", "Variables", "PUBLIC_URL")
		if byGateway := topology.FunctionNamed(name).Trigger == topology.ByGateway; byGateway != (url == "https://public.hooli.example") {
			t.Errorf("%s gives others the address %v", id, url)
		}
		// The account area and the server for agents are callers of the API like others.
		api := r.Properties.at("Environment", "Variables", "API_URL")
		reads := false
		for _, p := range permissionsOf(all)[topology.FunctionNamed(name).Name] {
			reads = reads || p.effect == "Allow" && strings.Contains(p.resources, "CallerSecret") &&
				slices.Equal(p.actions, []string{"secretsmanager:GetSecretValue"})
		}
		if inside := name == "console" || name == "mcp"; inside != (api == "https://api.hooli.example") || inside != reads {
			t.Errorf("%s calls the API at %v, and reads the certificate: %t", id, api, reads)
		}
		if reads {
			callers++
		}
	}
	if callers != 2 {
		t.Errorf("%d functions have a client certificate", callers)
	}
	_, client := named(t, in, "AWS::Cognito::UserPoolClient", "AccountArea")
	if !mentions(client["CallbackURLs"], "https://public.hooli.example/auth/callback") {
		t.Errorf("browsers come back to %v", client["CallbackURLs"])
	}
	if n := len(in.Resources); n > 475 {
		t.Errorf("the stack has %d resources", n)
	}
}

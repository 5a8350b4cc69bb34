package system

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/calltest"
)

// template has the relevant parts of the CDK's template for two functions.
const template = `{"Resources": {
	"Api": {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Name": "local", "BinaryMediaTypes": ["*/*"]}},
	"Get": {"Type": "AWS::ApiGateway::Method", "Properties": {"HttpMethod": "GET", "Integration": {"Type": "AWS_PROXY"}}},
	"MeFunction": {"Type": "AWS::Lambda::Function", "Metadata": {"aws:asset:path": "/build/me", "aws:asset:property": "Code"}, "Properties": {
		"FunctionName": "local-local-me", "MemorySize": 512,
		"Environment": {"Variables": {"STAGE": "local", "SIGN_IN_ISSUER": "", "TABLE_NAME": {"Fn::ImportValue": "data:Table"}}}}},
	"DocsFunction": {"Type": "AWS::Lambda::Function", "Properties": {
		"FunctionName": "local-local-docs", "Environment": {"Variables": {"STAGE": "local"}}}}}}`

func TestSAMGetsEveryVariable(t *testing.T) {
	const endpoint = "http://172.17.0.1:4566"
	deployed := map[string]map[string]string{
		"local-local-me":   {"STAGE": "local", "SIGN_IN_ISSUER": "https://pool.example", "TABLE_NAME": "state"},
		"local-local-docs": {"STAGE": "local"},
	}
	for function, want := range deployed {
		deployed[function] = maps.Clone(want)
	}
	text, variables, err := forSAM([]byte(template), endpoint,
		func(f string) (map[string]string, error) { return maps.Clone(deployed[f]), nil })
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]map[string]string
	if err := json.Unmarshal(variables, &values); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"STAGE": "local", "TABLE_NAME": "state",
		"AWS_ENDPOINT_URL": endpoint}; len(values) != 2 || !maps.Equal(values["MeFunction"], want) {
		t.Errorf("got %v", values)
	}
	// SAM passes on only variables that the template names.
	var got, was struct {
		Resources map[string]struct {
			Type       string
			Metadata   map[string]string
			Properties struct {
				Environment struct{ Variables map[string]any }
				Integration map[string]string
			}
		}
	}
	if err := errors.Join(json.Unmarshal(text, &got), json.Unmarshal([]byte(template), &was)); err != nil {
		t.Fatal(err)
	}
	for id, r := range was.Resources {
		if got.Resources[id].Type != r.Type || !maps.Equal(got.Resources[id].Metadata, r.Metadata) {
			t.Errorf("%s is %+v", id, got.Resources[id])
		}
		named := slices.Sorted(maps.Keys(got.Resources[id].Properties.Environment.Variables))
		if given := slices.Sorted(maps.Keys(values[id])); !slices.Equal(named, given) {
			t.Errorf("%s names %v and is given %v", id, named, given)
		}
	}

	if want := map[string]string{"Type": "AWS_PROXY", "ContentHandling": "CONVERT_TO_BINARY",
		"ContentType": "*/*"}; !maps.Equal(got.Resources["Get"].Properties.Integration, want) {
		t.Errorf("the method has the integration %v", got.Resources["Get"].Properties.Integration)
	}

	delete(deployed["local-local-me"], "TABLE_NAME")
	_, _, err = forSAM([]byte(template), endpoint,
		func(f string) (map[string]string, error) { return maps.Clone(deployed[f]), nil })
	if err == nil || !strings.Contains(err.Error(), "local-local-me has no value of TABLE_NAME") {
		t.Errorf("without a value: %v", err)
	}
	gone := errors.New("gone")
	if _, _, err = forSAM([]byte(template), endpoint, func(string) (map[string]string, error) {
		return nil,
			gone
	}); !errors.Is(err, gone) {
		t.Errorf("without a function: %v", err)
	}
}

func TestTheTemplatesAreThoseOfTheManifest(t *testing.T) {
	dir := t.TempDir()
	manifest := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	template := func(stack, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, stack+".template.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The file of an earlier start in another region.
	template("local-eu-west-1-api", "")
	template("local-us-west-2-api", `{"Resources": {"Api": {"Type": "A"}, "Metadata": {"Type": "M"}}}`)
	template("local-us-west-2-areas", `{"Resources": {"Content": {"Type": "F"}, "Metadata": {"Type": "other"}}}`)
	manifest(`{"artifacts": {
		"local-us-west-2-data": {"properties": {"templateFile": "local-us-west-2-data.template.json"}},
		"local-us-west-2-areas": {"properties": {"templateFile": "local-us-west-2-areas.template.json"}},
		"local-us-west-2-api": {"properties": {"templateFile": "local-us-west-2-api.template.json"}},
		"Tree": {"properties": {"file": "tree.json"}}}}`)
	const want = `{"Resources":{"Api":{"Type":"A"},"Content":{"Type":"F"},"Metadata":{"Type":"M"}}}`
	if got, err := publicTemplate(dir); err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	manifest(`{"artifacts": {}}`)
	if got, err := publicTemplate(dir); err == nil {
		t.Errorf("an empty assembly has %q", got)
	}
}

func TestSAMsCommandLine(t *testing.T) {
	files := samFiles{"/sam/template.json", "/sam/variables.json"}
	pulled := strings.Join(samArguments(files, "net", "", 8080), " ")
	want := "local start-api --template /sam/template.json --env-vars /sam/variables.json --host 127.0.0.1 --port " +
		"8080 --warm-containers EAGER --no-watch --docker-network net"
	if pulled != want {
		t.Errorf("got  %s\nwant %s", pulled, want)
	}
	if own := strings.Join(samArguments(files, "net", "image:x86_64", 8080), " "); own != want+
		" --invoke-image image:x86_64 --skip-pull-image" {
		t.Errorf("with an image: %s", own)
	}
}

func TestWithoutAnEngineNothingStarts(t *testing.T) {
	machine := map[string]string{"go": "echo go1.26.8", "node": "echo v20.20.2", "npm": "echo 10.8.2",
		"python3": "echo Python 3.11.7"}
	for name, docker := range map[string]string{"no command": "",
		"no engine": "echo Cannot connect to the Docker daemon >&2; exit 1"} {
		if docker != "" {
			machine["docker"] = docker
		}
		dir := t.TempDir()
		programs(t, machine)
		if _, err := Start(t.Context(), Options{Root: t.TempDir(), Dir: dir, SAM: true}); !errors.Is(err, ErrNoEngine) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: it has made %v, %v", name, left, err)
		}
	}
}

// The network of an interrupted start is removed, and nothing of another system.
func TestTheNetworkIsMadeAnew(t *testing.T) {
	calls := filepath.Join(t.TempDir(), "calls")
	programs(t, map[string]string{"docker": `echo "$@" >> ` + calls + `
case "$1 $2" in
"network ls") echo 17;;
"ps --all") printf 'c1\nc2\n';;
"network inspect") echo 172.18.0.1;;
esac`})
	m := sam{network: networkName("/checkout/.local/system")}
	if other := networkName("/other/.local/system"); other == m.network {
		t.Errorf("two systems have the network %s", other)
	}
	gateway, err := m.makeNetwork(t.Context())
	if err != nil || gateway != "172.18.0.1" {
		t.Errorf("got %q, %v", gateway, err)
	}
	data, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`network ls --quiet --filter name=^%[1]s$
ps --all --quiet --filter network=%[1]s
rm --force c1 c2
network rm %[1]s
network create %[1]s
network inspect --format {{(index .IPAM.Config 0).Gateway}} %[1]s
`, m.network)
	if string(data) != want {
		t.Errorf("called\n%swant\n%s", data, want)
	}
}

func TestTheDoorLeavesCallsAsTheyAre(t *testing.T) {
	var host, uri, signature string
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, uri, signature = r.Host, r.RequestURI, r.Header.Get("Authorization")
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(behind.Close)
	to, err := url.Parse(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(door(to))
	t.Cleanup(front.Close)
	req := calltest.Request(t, http.MethodPut, front.URL+"/media/a%2Fb?X-Amz-Signature=1&x=%20", strings.NewReader("file"))
	req.Host = "172.18.0.1:4566"
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Signature=2")
	if res, body := calltest.Send(t, req); res.StatusCode != http.StatusOK || body != "file" {
		t.Errorf("got %s %s", res.Status, body)
	}
	if host != "172.18.0.1:4566" || uri != "/media/a%2Fb?X-Amz-Signature=1&x=%20" ||
		signature != "AWS4-HMAC-SHA256 Signature=2" {
		t.Errorf("behind it: %s %s %s", host, uri, signature)
	}
}

func TestContainersReachTheLocalAWS(t *testing.T) {
	behind := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(behind.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(behind.URL, "http://"), ":")
	m := sam{}
	t.Cleanup(func() {
		if m.door != nil {
			_ = m.door.Close()
		}
	})
	// A documentation address, which no machine has. An address of a network in Docker
	// Desktop's virtual machine is just as unreachable.
	if endpoint, err := m.openDoor(t.Context(), behind.URL, "192.0.2.1"); err != nil ||
		endpoint != "http://host.docker.internal:"+port || m.door != nil {
		t.Errorf("got %q, %v", endpoint, err)
	}
	if _, err := m.openDoor(t.Context(), behind.URL, "127.0.0.1"); err == nil {
		t.Error("it took a port that is in use")
	}
}

func TestTheImageHoldsWhatFunctionsNeed(t *testing.T) {
	content, err := imageContent([]byte("emulator"), []byte("certificates"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for archive := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		got[header.Name] = fmt.Sprintf("%o %s", header.Mode, data)
	}
	if want := map[string]string{
		"var/task/": "755 ", "var/runtime/": "755 ", "opt/": "755 ", "tmp/": "1777 ",
		"var/rapid/aws-lambda-rie": "755 emulator", "etc/ssl/certs/ca-certificates.crt": "644 certificates",
	}; !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestCertificatesAreThoseOfTheMachine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte("of the company"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file)
	if got := string(hostCertificates()); got != "of the company" {
		t.Errorf("got %q", got)
	}
}

func TestReachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	if !reachable(t.Context(), server.URL) {
		t.Error("a server that answers is not reachable")
	}
	server.Close()
	if reachable(t.Context(), server.URL) {
		t.Error("a server that is gone is reachable")
	}
}

package system

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// ErrNoEngine is returned if SAM is requested and no Docker engine answers.
var ErrNoEngine = errors.New("no Docker engine answers")

// sam is `sam local start-api`: a separate gateway in front of the functions of the public
// interface, each in a container. All other functions stay in the emulated AWS.
type sam struct {
	*process
	// network is the name of the containers' network, by which they are found and removed.
	network string
	// door lets the containers reach the emulated AWS.
	door *http.Server
}

// samStart bounds the start of SAM, with the download of its image.
const samStart = 10 * time.Minute

// startSAM installs SAM, starts it on the deployed template and waits for the API.
func (s *System) startSAM(ctx context.Context, o Options, port int) (err error) {
	if err := Install(ctx, o.Root, o.Say, SAM); err != nil {
		return err
	}
	o.Say("Starting the containers of the functions (SAM)")
	dir := filepath.Join(o.Dir, "sam")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	s.sam = &sam{network: networkName(o.Dir)}
	gateway, err := s.sam.makeNetwork(ctx)
	if err != nil {
		return err
	}
	endpoint, err := s.sam.openDoor(ctx, s.Endpoint, gateway)
	if err != nil {
		return err
	}
	image, err := runtimeImage(ctx, installed(o.Root).sam)
	if err != nil {
		return err
	}
	files, err := s.writeSAMFiles(ctx, o, dir, endpoint)
	if err != nil {
		return err
	}
	log := filepath.Join(o.Dir, "sam.log")
	env := append(withTools(),
		// SAM passes the region and the credentials on to the functions, and needs the account.
		"AWS_REGION="+o.Region, "AWS_DEFAULT_REGION="+o.Region, "AWS_ACCESS_KEY_ID="+awsKey,
		"AWS_SECRET_ACCESS_KEY="+awsKey,
		"AWS_ENDPOINT_URL="+s.Endpoint, "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"SAM_CLI_TELEMETRY=0", "__SAM_CLI_APP_DIR="+dir, "PYTHONUNBUFFERED=1",
	)
	s.sam.process, err = start(dir, log, env, filepath.Join(installed(o.Root).sam, "bin", "sam"),
		samArguments(files, s.sam.network, image, port)...)
	if err == nil {
		err = s.sam.await(ctx, "http://127.0.0.1:"+strconv.Itoa(port)+"/healthz", samStart)
	}
	if err != nil {
		return logged(err, "starting SAM", log)
	}
	return nil
}

// samFiles are the paths of the template that SAM reads, and of its functions' variables.
type samFiles struct{ template, variables string }

// samArguments returns SAM's command line. Without an image, SAM uses AWS's image from AWS's
// registry.
func samArguments(files samFiles, network, image string, port int) []string {
	args := []string{
		"local", "start-api", "--template", files.template, "--env-vars", files.variables,
		"--host", "127.0.0.1", "--port", strconv.Itoa(port),
		// A container is kept for each function, instead of one for each call. It runs the
		// build with which it started.
		"--warm-containers", "EAGER", "--no-watch",
		"--docker-network", network,
	}
	if image != "" {
		args = append(args, "--invoke-image", image, "--skip-pull-image")
	}
	return args
}

// end ends SAM, and removes its containers and network. SAM itself removes them only if it has
// started completely.
func (m *sam) end() {
	if m.process != nil {
		m.process.end(grace)
	}
	if m.door != nil {
		_ = m.door.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = m.removeNetwork(ctx)
}

// networkName returns the name of the network for the system in a folder.
func networkName(dir string) string {
	hash := sha256.Sum256([]byte(dir))
	return "content-automation-" + hex.EncodeToString(hash[:6])
}

// makeNetwork replaces the network, and returns the address of this machine in it.
func (m *sam) makeNetwork(ctx context.Context) (gateway string, err error) {
	if err := m.removeNetwork(ctx); err != nil {
		return "", err
	}
	if _, err := docker(ctx, nil, "network", "create", m.network); err != nil {
		return "", err
	}
	return docker(ctx, nil, "network", "inspect", "--format", "{{(index .IPAM.Config 0).Gateway}}", m.network)
}

// removeNetwork removes the network, if there is one, with the containers in it.
func (m *sam) removeNetwork(ctx context.Context) error {
	found, err := docker(ctx, nil, "network", "ls", "--quiet", "--filter", "name=^"+m.network+"$")
	if err != nil || found == "" {
		return err
	}
	containers, err := docker(ctx, nil, "ps", "--all", "--quiet", "--filter", "network="+m.network)
	if err != nil {
		return err
	}
	if ids := strings.Fields(containers); len(ids) > 0 {
		if _, err := docker(ctx, nil, slices.Concat([]string{"rm", "--force"}, ids)...); err != nil {
			return err
		}
	}
	_, err = docker(ctx, nil, "network", "rm", m.network)
	return err
}

// checkEngine returns ErrNoEngine if no Docker engine answers.
func checkEngine(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if _, err := docker(ctx, nil, "info", "--format", "{{.ServerVersion}}"); err != nil {
		return ErrNoEngine
	}
	return nil
}

// docker runs a Docker command with an input, and returns its output.
func docker(ctx context.Context, input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stdin = strings.NewReader(string(input))
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("docker %s: %w %s", args[0], err, strings.TrimSpace(complaint.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// dockerHost is the name of this machine in the containers of Docker Desktop.
const dockerHost = "host.docker.internal"

// openDoor lets containers reach the emulated AWS, which listens only on loopback, and returns
// its address for them. If this machine has an address in the network of the containers, it
// starts a proxy on that address. Docker Desktop keeps the network in a virtual machine, which
// reaches loopback by a name.
func (m *sam) openDoor(ctx context.Context, endpoint, gateway string) (string, error) {
	to, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(gateway, to.Port()))
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return "http://" + net.JoinHostPort(dockerHost, to.Port()), nil
	}
	if err != nil {
		return "", err
	}
	m.door = &http.Server{Handler: door(to), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = m.door.Serve(listener) }()
	return "http://" + listener.Addr().String(), nil
}

// door forwards calls unchanged, because their signatures include the host.
func door(to *url.URL) http.Handler {
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host, r.Out.URL.RawQuery = r.In.Host, r.In.URL.RawQuery
	}}
}

const (
	// imageRegistry is the registry from which SAM gets Lambda's own image.
	imageRegistry = "https://public.ecr.aws/v2/"
	// ownImage is the name of the image that is made if the registry cannot be reached.
	ownImage = "content-automation/lambda-runtime"
)

// runtimeImage returns the image in which SAM runs functions, or "" for AWS's image. If AWS's
// registry cannot be reached, it makes an image. Functions are single binaries, and need only
// SAM's runtime interface emulator and the certificates of this machine.
func runtimeImage(ctx context.Context, sam string) (string, error) {
	if reachable(ctx, imageRegistry) {
		return "", nil
	}
	architecture := Machine().Architecture()
	// SAM's package includes the emulator.
	emulators, err := filepath.Glob(filepath.Join(sam, "lib", "python*", "site-packages", "samcli", "local", "rapid",
		"aws-lambda-rie-"+architecture))
	if err != nil {
		return "", err
	}
	if len(emulators) != 1 {
		return "", fmt.Errorf("%s holds %d runtime interface emulators for %s", sam, len(emulators), architecture)
	}
	emulator, err := os.ReadFile(emulators[0])
	if err != nil {
		return "", err
	}
	content, err := imageContent(emulator, hostCertificates())
	if err != nil {
		return "", err
	}
	// SAM takes an image with this tag for one that it has built itself.
	if _, err := docker(ctx, content, "import", "-", ownImage+":rapid-"+architecture); err != nil {
		return "", err
	}
	return ownImage + ":" + architecture, nil
}

// reachable reports whether a server answers at an address.
func reachable(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return res.Body.Close() == nil
}

// hostCertificates returns the certificates that this machine trusts, or nil if no known file
// has them.
func hostCertificates() []byte {
	for _, name := range []string{
		os.Getenv("SSL_CERT_FILE"),
		"/etc/ssl/certs/ca-certificates.crt", // Debian, Ubuntu, Arch
		"/etc/pki/tls/certs/ca-bundle.crt",   // Fedora, Amazon Linux
		"/etc/ssl/ca-bundle.pem",             // openSUSE
		"/etc/ssl/cert.pem",                  // Alpine, macOS
	} {
		if text, err := os.ReadFile(name); err == nil {
			return text
		}
	}
	return nil
}

// imageContent returns the files of the image as an archive.
func imageContent(emulator, certificates []byte) ([]byte, error) {
	var content bytes.Buffer
	archive := tar.NewWriter(&content)
	for _, file := range []struct {
		name string
		mode int64
		data []byte
	}{
		{"var/task/", 0o755, nil}, {"var/runtime/", 0o755, nil}, {"opt/", 0o755, nil}, {"tmp/", 0o1777, nil},
		{"var/rapid/aws-lambda-rie", 0o755, emulator},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, certificates},
	} {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: file.name, Mode: file.mode, Size: int64(len(file.data))}
		if strings.HasSuffix(file.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(file.data); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// writeSAMFiles writes the template of the public interface and the variables of its
// functions into a folder.
func (s *System) writeSAMFiles(ctx context.Context, o Options, dir, endpoint string) (samFiles, error) {
	files := samFiles{filepath.Join(dir, "template.json"), filepath.Join(dir, "variables.json")}
	// Containers run Linux. If this machine does too, the deployed assembly can be used.
	if target := (Target{"linux", Machine().Arch}); target != Machine() {
		d := deployment{root: o.Root, dir: o.Dir, region: o.Region, context: withFakes(o.Context, s.Providers,
			s.Platforms), target: target}
		if err := Build(ctx, o.Root, target); err != nil {
			return files, err
		}
		if err := d.synthesise(ctx); err != nil {
			return files, err
		}
	}
	text, err := publicTemplate(filepath.Join(o.Dir, assembly))
	if err != nil {
		return files, err
	}
	template, variables, err := forSAM(text, endpoint, func(function string) (map[string]string, error) {
		return s.deployedVariables(ctx, function)
	})
	if err != nil {
		return files, err
	}
	if err := os.WriteFile(files.template, template, 0o600); err != nil {
		return files, err
	}
	return files, os.WriteFile(files.variables, variables, 0o600)
}

// publicTemplate returns one template of the gateway and all functions behind it, since SAM reads one: the stacks api
// and areas of an assembly. The assembly may have older templates of other regions, so it reads the manifest.
func publicTemplate(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Artifacts map[string]struct {
			Properties struct{ TemplateFile string }
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("reading the manifest of the assembly: %w", err)
	}
	var api, areas map[string]any
	for _, artifact := range manifest.Artifacts {
		file := filepath.Join(dir, artifact.Properties.TemplateFile)
		switch {
		case strings.HasSuffix(file, "-api.template.json"):
			err = readTemplate(file, &api)
		case strings.HasSuffix(file, "-areas.template.json"):
			err = readTemplate(file, &areas)
		}
		if err != nil {
			return nil, err
		}
	}
	if api == nil || areas == nil {
		return nil, errors.New("the assembly has no templates of the public interface")
	}
	for _, section := range []string{"Parameters", "Resources"} {
		all, _ := api[section].(map[string]any)
		others, _ := areas[section].(map[string]any)
		for id, one := range others {
			if _, taken := all[id]; !taken { // the bootstrap's version and the CDK's own metadata are in each
				all[id] = one
			}
		}
	}
	return json.Marshal(api)
}

func readTemplate(name string, into *map[string]any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading the template %s: %w", name, err)
	}
	return nil
}

// deployedVariables returns the variables of a deployed function, with the imported values of
// other stacks.
func (s *System) deployedVariables(ctx context.Context, function string) (map[string]string, error) {
	out, err := lambda.NewFromConfig(s.AWS()).GetFunctionConfiguration(ctx,
		&lambda.GetFunctionConfigurationInput{FunctionName: aws.String(function)})
	if err != nil {
		return nil, fmt.Errorf("reading the variables of the function %s: %w", function, err)
	}
	if out.Environment == nil {
		return nil, nil
	}
	return out.Environment.Variables, nil
}

// forSAM returns the template with the address of the emulated AWS among the variables of each
// function, and a file with the values of all variables, for --env-vars. SAM accepts values only
// for variables that the template names, and resolves neither imports from other stacks nor
// secrets. Nobody signs in, see System.Password. It reads the binary media types from the methods, not from the API.
func forSAM(template []byte, endpoint string, deployed func(function string) (map[string]string, error)) (withEndpoint,
	variables []byte, err error) {
	var t map[string]any
	if err := json.Unmarshal(template, &t); err != nil {
		return nil, nil, fmt.Errorf("reading the template: %w", err)
	}
	values := map[string]map[string]string{}
	resources, _ := t["Resources"].(map[string]any)
	for id, r := range resources {
		resource, _ := r.(map[string]any)
		properties, _ := resource["Properties"].(map[string]any)
		if integration, ok := properties["Integration"].(map[string]any); ok {
			integration["ContentHandling"], integration["ContentType"] = "CONVERT_TO_BINARY", "*/*"
		}
		if resource["Type"] != "AWS::Lambda::Function" {
			continue
		}
		environment, _ := properties["Environment"].(map[string]any)
		named, ok := environment["Variables"].(map[string]any)
		if !ok {
			return nil, nil, fmt.Errorf("the function %s has no variables", id)
		}
		function, _ := properties["FunctionName"].(string)
		if values[id], err = deployed(function); err != nil {
			return nil, nil, err
		}
		for name := range named {
			if strings.HasPrefix(name, "SIGN_IN_") {
				delete(named, name)
				delete(values[id], name)
				continue
			}
			if values[id][name] == "" {
				return nil, nil, fmt.Errorf("the deployed function %s has no value of %s", function, name)
			}
		}
		named["AWS_ENDPOINT_URL"], values[id]["AWS_ENDPOINT_URL"] = endpoint, endpoint
	}
	if withEndpoint, err = json.Marshal(t); err != nil {
		return nil, nil, err
	}
	variables, err = json.Marshal(values)
	return withEndpoint, variables, err
}

package system

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
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

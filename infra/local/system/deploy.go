package system

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	settings "github.com/content-automation/api/infra/app/customer"
)

// deployment has the app, the assembly and the CLI of the CDK.
type deployment struct {
	root, dir, cdk string
	region         string
	context        map[string]string
	target         Target
}

// Names of files in the system's folder.
const (
	assembly = "cdk.out"
	outputs  = "outputs.json"
)

// The commands that are built together with the functions, because they share most packages
// with them.
const (
	appCommand       = "./infra"
	providersCommand = "./testdata/providers"
	platformsCommand = "./testdata/fakes/platforms"
)

// synthesise runs the CDK app directly. It need not wait for the CLI, and runs while the
// emulator starts.
func (d deployment) synthesise(ctx context.Context) error {
	app := filepath.Join(d.root, Machine().linked(), "infra") // the app always runs on this machine
	log := filepath.Join(d.dir, "synth.log")
	values, err := d.contextValues()
	if err != nil {
		return err
	}
	stamp, want, err := d.inputs(app, values)
	if err != nil {
		return err
	}
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
		return nil
	}
	if err := os.Remove(stamp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	env := environment(map[string]string{
		"CDK_OUTDIR":       filepath.Join(d.dir, assembly),
		"CDK_CONTEXT_JSON": values,
		"TMPDIR":           filepath.Join(d.dir, "tmp"),
	})
	if err := run(ctx, d.root, log, env, app); err != nil {
		return logged(err, "synthesising the stacks", log)
	}
	if err := d.prune(); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(want), 0o644)
}

// inputs returns a fingerprint of all inputs of the assembly, and the file in the assembly
// with the fingerprint of its inputs.
func (d deployment) inputs(app, values string) (stamp, fingerprint string, err error) {
	hash := sha256.New()
	fmt.Fprintln(hash, values)
	files, err := filepath.Glob(filepath.Join(d.root, d.target.Dir(), "*", "bootstrap"))
	if err != nil {
		return "", "", err
	}
	for _, name := range append(files, app) {
		fmt.Fprintln(hash, name)
		file, err := os.Open(name)
		if err != nil {
			return "", "", err
		}
		_, err = io.Copy(hash, file)
		_ = file.Close()
		if err != nil {
			return "", "", err
		}
	}
	return filepath.Join(d.dir, assembly, ".inputs"), hex.EncodeToString(hash.Sum(nil)), nil
}

// contextValues returns the values of cdk.json, with those that the local system and its
// caller set.
func (d deployment) contextValues() (string, error) {
	data, err := os.ReadFile(filepath.Join(d.root, "cdk.json"))
	if err != nil {
		return "", err
	}
	var config struct {
		Context map[string]any `json:"context"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return "", fmt.Errorf("reading cdk.json: %w", err)
	}
	values := config.Context
	maps.Copy(values, map[string]any{
		"customer": customer,
		"region":   d.region,
		"arch":     d.target.Architecture(),
		"assets":   filepath.Join(d.root, d.target.Dir()),
		// The folder of ffmpeg and the fonts, for which other deployments have a layer.
		"localTools": filepath.Join(d.root, ".tools", "media"),
		// The zips are made directly from the folders of the built functions.
		"aws:cdk:disable-asset-staging": true,
		// SAM finds the code by this metadata.
		"aws:cdk:enable-asset-metadata": true,
	})
	for name, value := range d.context {
		values[name] = value
	}
	out, err := json.Marshal(values)
	return string(out), err
}

// prune removes the zips of earlier builds of functions.
func (d deployment) prune() error {
	out := filepath.Join(d.dir, assembly)
	manifests, err := filepath.Glob(filepath.Join(out, "*.assets.json"))
	if err != nil {
		return err
	}
	var used strings.Builder
	for _, name := range manifests {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		used.Write(data)
	}
	zips, err := filepath.Glob(filepath.Join(out, ".cache", "*.zip"))
	if err != nil {
		return err
	}
	for _, zip := range zips {
		if hash := strings.TrimSuffix(filepath.Base(zip), ".zip"); !strings.Contains(used.String(), hash) {
			if err := os.Remove(zip); err != nil {
				return err
			}
		}
	}
	return nil
}

// bootstrap makes the resources that the CDK needs in an account before it can deploy.
func (d deployment) bootstrap(ctx context.Context, endpoint string) error {
	return d.cli(ctx, endpoint, "bootstrap", "aws://"+awsAccount+"/"+d.region)
}

// deploy deploys the stacks for the API at base, and returns their outputs in one map. The stacks
// have no output names in common.
func (d deployment) deploy(ctx context.Context, endpoint, base string) (map[string]string, error) {
	file := filepath.Join(d.dir, outputs)
	api := customer + "-" + stage + "-" + d.region + "-api:"
	err := d.cli(ctx, endpoint, "deploy", "--all", "--parameters", api+settings.BaseURLParameter+"="+base,
		"--parameters", api+settings.SignInURLParameter+"="+endpoint, "--require-approval", "never", "--app",
		filepath.Join(d.dir, assembly),
		"--method", "direct", "--concurrency", "2", "--progress", "events", "--outputs-file", file)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var stacks map[string]map[string]string
	if err := json.Unmarshal(data, &stacks); err != nil {
		return nil, fmt.Errorf("reading the outputs of the stacks: %w", err)
	}
	all := map[string]string{}
	for _, values := range stacks {
		maps.Copy(all, values)
	}
	return all, nil
}

func (d deployment) cli(ctx context.Context, endpoint, command string, args ...string) error {
	log := filepath.Join(d.dir, command+".log")
	env := environment(map[string]string{
		"AWS_ENDPOINT_URL":            endpoint,
		"AWS_REGION":                  d.region,
		"AWS_ACCESS_KEY_ID":           awsKey,
		"AWS_SECRET_ACCESS_KEY":       awsKey,
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_CONFIG_FILE":             os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"CDK_DISABLE_CLI_TELEMETRY":   "true",
		"TMPDIR":                      filepath.Join(d.dir, "tmp"),
	})
	args = append([]string{command, "--no-notices", "--no-version-reporting", "--ci", "--no-color"}, args...)
	// Outside the checkout, whose cdk.json names its own app and build.
	if err := run(ctx, d.dir, log, env, d.cdk, args...); err != nil {
		return logged(err, "cdk "+command, log)
	}
	return nil
}

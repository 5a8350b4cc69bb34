package system

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

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

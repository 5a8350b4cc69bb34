package main

import (
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/judge/iam"
)

// The tests of this package run in the folder of cdk.json.
const (
	deployPackage = "infra/operate/deploy"
	roleFile      = deployPackage + "/role.json"
)

var update = flag.Bool("update", false, "write role.json")

// source is the code of the packages that deploy-all may reach.
type source struct {
	// functions and variables are the bodies of declarations by package and name. Methods have the name alone.
	functions map[string]map[string][]ast.Node
	// clients are the names by which a package imports the clients of AWS, with the prefix of their permissions.
	clients map[string]map[string]string
}

// prefixes are the prefixes of permissions that differ from the names of the clients.
var prefixes = map[string]string{"cognitoidentityprovider": "cognito-idp", "sesv2": "ses"}

func readSource(t *testing.T, folders ...string) source {
	t.Helper()
	s := source{map[string]map[string][]ast.Node{}, map[string]map[string]string{}}
	for _, folder := range folders {
		s.functions[folder], s.clients[folder] = map[string][]ast.Node{}, map[string]string{}
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", folder, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			s.read(folder, file)
		}
	}
	return s
}

func (s source) read(folder string, file *ast.File) {
	for _, i := range file.Imports {
		service, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "github.com/aws/aws-sdk-go-v2/service/")
		if !ok || strings.Contains(service, "/") {
			continue
		}
		name, prefix := service, service
		if i.Name != nil {
			name = i.Name.Name
		}
		if p := prefixes[service]; p != "" {
			prefix = p
		}
		s.clients[folder][name] = prefix
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				s.functions[folder][d.Name.Name] = append(s.functions[folder][d.Name.Name], d.Body)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, name := range v.Names {
						s.functions[folder][name.Name] = append(s.functions[folder][name.Name], v)
					}
				}
			}
		}
	}
}

// cognitoFolder names the operations of Amazon Cognito as texts, because it calls them without a client of the SDK.
const cognitoFolder = "pkg/record/connection/cognito"

// firstText returns the first text among arguments, or an empty one.
func firstText(args []ast.Expr) string {
	for _, arg := range args {
		if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			return strings.Trim(lit.Value, `"`)
		}
	}
	return ""
}

// calls returns the actions of AWS that a function of a package may call. It follows names, so that it returns too
// many rather than too few.
func (s source) calls(folder, function string) map[string]bool {
	type place struct{ folder, name string }
	actions, seen := map[string]bool{}, map[place]bool{}
	var follow func(p place)
	visit := func(in string) func(ast.Node) bool {
		return func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				follow(place{in, n.Name})
			case *ast.SelectorExpr:
				for other := range s.functions {
					follow(place{other, n.Sel.Name})
				}
			case *ast.CompositeLit: // &service.OperationInput{…}
				if of, ok := n.Type.(*ast.SelectorExpr); ok {
					client, _ := of.X.(*ast.Ident)
					if operation, input := strings.CutSuffix(of.Sel.Name, "Input"); input && client != nil &&
						s.clients[in][client.Name] != "" {
						actions[s.clients[in][client.Name]+":"+operation] = true
					}
				}
			case *ast.CallExpr: // service.NewFromConfig(…).Operation(ctx, nil)
				of, _ := n.Fun.(*ast.SelectorExpr)
				if of == nil {
					break
				}
				if client, _ := of.X.(*ast.Ident); client != nil && client.Name == "client" && len(n.Args) == 2 {
					if without, _ := n.Args[1].(*ast.Ident); without != nil && without.Name == "nil" {
						actions[in+": name the input of "+of.Sel.Name] = true
					}
				}
				calls := of.Sel.Name == "call" || of.Sel.Name == "list"
				if operation := firstText(n.Args); calls && in == cognitoFolder && operation != "" {
					actions["cognito-idp:"+operation] = true
				}
				made, _ := of.X.(*ast.CallExpr)
				if made == nil {
					break
				}
				if maker, _ := made.Fun.(*ast.SelectorExpr); maker != nil && maker.Sel.Name == "NewFromConfig" {
					if client, _ := maker.X.(*ast.Ident); client != nil && s.clients[in][client.Name] != "" {
						actions[s.clients[in][client.Name]+":"+of.Sel.Name] = true
					}
				}
			}
			return true
		}
	}
	follow = func(p place) {
		if seen[p] {
			return
		}
		seen[p] = true
		for _, body := range s.functions[p.folder][p.name] {
			ast.Inspect(body, visit(p.folder))
		}
	}
	follow(place{folder, function})
	return actions
}

// free are actions that need no permission, or that preflight makes to find out about the memory of functions in a new
// account: a role that may make a stack, but no function in it, would be told that AWS refuses the memory. Without the
// permission preflight warns. others are actions that have another name in policies.
var (
	free = []string{"sts:GetCallerIdentity", "cloudformation:CreateStack", "cloudformation:DeleteStack",
		"cloudformation:DescribeStackEvents"}
	others = map[string]string{"apigateway:GetAccount": "apigateway:GET"}
)

// resources are those of the actions of a service. Others have no resources, or are reads of the whole account.
var roleResources = map[string]string{
	"cloudformation": "arn:${AWS::Partition}:cloudformation:*:${AWS::AccountId}:stack/*",
	"cloudwatch":     "arn:${AWS::Partition}:cloudwatch:*:${AWS::AccountId}:alarm:*",
	"cognito-idp":    "arn:${AWS::Partition}:cognito-idp:*:${AWS::AccountId}:userpool/*",
	"dynamodb":       "arn:${AWS::Partition}:dynamodb:*:${AWS::AccountId}:table/*",
	"lambda":         "arn:${AWS::Partition}:lambda:*:${AWS::AccountId}:function:*",
	"secretsmanager": "arn:${AWS::Partition}:secretsmanager:*:${AWS::AccountId}:secret:*",
	"sns":            "arn:${AWS::Partition}:sns:*:${AWS::AccountId}:*",
}

// whole are actions of these services that name no resource.
var whole = []string{"lambda:GetAccountSettings"}

// TestTheRoleOfADeploymentHasItsCalls holds the template of deployRole against the calls that deploy-all makes: an
// action that nothing calls, or a call without its action, fails it.
func TestTheRoleOfADeploymentHasItsCalls(t *testing.T) {
	s := readSource(t, deployPackage, "infra/operate/preflight", "pkg/adapter/provider/bedrock/lives",
		"infra/operate/fleet", "infra/operate/release", cognitoFolder)
	byResource := map[string][]string{}
	for action := range s.calls(deployPackage, "all") {
		if slices.Contains(free, action) {
			continue
		}
		if other := others[action]; other != "" {
			action = other
		}
		service, name, _ := strings.Cut(action, ":")
		if strings.Contains(name, " ") {
			t.Error(action)
		}
		resource := roleResources[service]
		if resource == "" || slices.Contains(whole, action) {
			resource = "*"
		}
		byResource[resource] = append(byResource[resource], action)
	}
	type object = map[string]any
	statements := []object{{"Effect": "Allow", "Action": "sts:AssumeRole",
		"Resource": object{"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/cdk-*"}}}
	for _, resource := range slices.Sorted(maps.Keys(byResource)) {
		slices.Sort(byResource[resource])
		var on any = object{"Fn::Sub": resource}
		if resource == "*" {
			on = "*"
		}
		statements = append(statements, object{"Effect": "Allow", "Action": byResource[resource], "Resource": on})
	}
	// The key of the customer's secrets is its own, so that to read a secret is to use the key.
	if slices.Contains(byResource[roleResources["secretsmanager"]], "secretsmanager:GetSecretValue") {
		statements = append(statements, object{"Effect": "Allow", "Action": "kms:Decrypt",
			"Resource":  object{"Fn::Sub": "arn:${AWS::Partition}:kms:*:${AWS::AccountId}:key/*"},
			"Condition": object{"StringLike": object{"kms:ViaService": "secretsmanager.*.amazonaws.com"}}})
	}
	accepted := object{"cdk_nag": object{"rules_to_suppress": []object{{"id": "AwsSolutions-IAM5",
		"reason": "One role deploys the stacks of any name and region in its account; reads of the account have no " +
			"resource."}}}}
	template := object{
		"Description": "The role by which deploy-all deploys the stacks of a cell. go test ./infra/operate/deploy -update " +
			"writes it from the calls of the command.",
		"Parameters": object{
			"Operators": object{"Type": "CommaDelimitedList",
				"Description": "ARNs of the roles of the operators' pipeline"},
			"Organization": object{"Type": "String", "Description": "Id of the organization, such as o-1a2b3c4d5e"},
		},
		"Resources": object{"Deploy": object{"Type": "AWS::IAM::Role", "Metadata": accepted, "Properties": object{
			"RoleName": "deploy", "MaxSessionDuration": 3600,
			"AssumeRolePolicyDocument": object{"Version": "2012-10-17", "Statement": []object{{"Effect": "Allow",
				"Action": "sts:AssumeRole", "Principal": object{"AWS": object{"Ref": "Operators"}},
				"Condition": object{"StringEquals": object{"aws:PrincipalOrgID": object{"Ref": "Organization"}}}}}},
			"Policies": []object{{"PolicyName": "deploy", "PolicyDocument": object{"Version": "2012-10-17",
				"Statement": statements}}},
		}}},
		"Outputs": object{"DeployRole": object{"Value": object{"Fn::GetAtt": []string{"Deploy", "Arn"}}}},
	}
	want, err := json.MarshalIndent(template, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(roleFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(roleFile)
	if err != nil || string(have) != string(want) {
		t.Errorf("role.json is not what deploy-all needs, %v: run go test ./infra/operate/deploy -update", err)
	}
	if err := errors.Join(iam.Check(have, iam.Levels()), iam.Secrets(have)); err != nil {
		t.Error(err)
	}
	for _, action := range []string{"dynamodb:UpdateTable", "cloudformation:UpdateTerminationProtection",
		"cognito-idp:UpdateUserPoolClient", "lambda:DeleteFunction", "lambda:GetAccountSettings", "kms:DescribeKey",
		"cloudformation:GetTemplate", "secretsmanager:GetSecretValue", "kms:Decrypt", "ses:GetEmailIdentity",
		"ses:GetAccount"} {
		if !strings.Contains(string(have), `"`+action+`"`) {
			t.Errorf("the calls have no %s", action)
		}
	}
	for _, action := range []string{"cognito-idp:AdminDeleteUser", "lambda:UpdateAlias", "cloudformation:DetectStackDrift",
		"cloudformation:ExecuteChangeSet", "sesv2:"} {
		if strings.Contains(string(have), action) {
			t.Errorf("nothing of deploy-all calls %s", action)
		}
	}
}

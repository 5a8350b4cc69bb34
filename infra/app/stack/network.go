package stack

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// network is a customer's own VPC. Functions are in its private subnets. Their traffic to the
// internet leaves by the NAT gateway of their zone, whose address stays the same.
type network struct {
	stack awscdk.Stack
	zones int
	// waiting leaves out resources that cost by the hour: see customer.Settings.Waiting.
	waiting bool
	vpc     awsec2.CfnVPC
	// addresses are those that functions call from.
	addresses []*string
	blocks    []string // ranges of addresses: of private subnets from index 0, of public subnets from 4
	private   []*string
	tables    []any // route tables of the private subnets
	members   awsec2.CfnSecurityGroup
	// probe is the id of the endpoint by which the canary calls a private API, or nil if
	// the API is public.
	probe *string
}

// newNetwork makes the customer's network, or returns nil if the customer has none.
func newNetwork(stack awscdk.Stack, s customer.Settings, key awskms.Key) *network {
	if s.Network == nil {
		return nil
	}
	n := &network{stack: stack, zones: s.Network.Zones, waiting: s.Waiting(),
		blocks: eighths(netip.MustParsePrefix(s.Network.CIDR))}
	n.vpc = awsec2.NewCfnVPC(stack, jsii.String("Network"), &awsec2.CfnVPCProps{
		CidrBlock: jsii.String(s.Network.CIDR), EnableDnsHostnames: jsii.Bool(true), EnableDnsSupport: jsii.Bool(true),
		Tags: n.named("network"),
	})
	n.members = n.group("FunctionsGroup", "Functions of "+s.Customer)
	n.members.SetSecurityGroupEgress([]any{&awsec2.CfnSecurityGroup_EgressProperty{
		IpProtocol: jsii.String("tcp"), FromPort: jsii.Number(443), ToPort: jsii.Number(443),
		CidrIp:      jsii.String("0.0.0.0/0"),
		Description: jsii.String("AWS, providers and receivers, by TLS"),
	}})
	n.route(s)
	n.endpoints(s)
	n.log(s, key)
	return n
}

// eighths divides a range of addresses into eight.
func eighths(of netip.Prefix) (all []string) {
	first, bits := of.Addr().As4(), of.Bits()+3
	for i := range uint32(8) {
		var block [4]byte
		binary.BigEndian.PutUint32(block[:], binary.BigEndian.Uint32(first[:])+i<<(32-bits))
		all = append(all, netip.PrefixFrom(netip.AddrFrom4(block), bits).String())
	}
	return all
}

func (n *network) named(name string) *[]*awscdk.CfnTag {
	return &[]*awscdk.CfnTag{{Key: jsii.String("Name"), Value: jsii.String(*n.stack.StackName() + "-" + name)}}
}

func (n *network) group(id, holds string) awsec2.CfnSecurityGroup {
	return awsec2.NewCfnSecurityGroup(n.stack, jsii.String(id),
		&awsec2.CfnSecurityGroupProps{GroupDescription: jsii.String(holds), VpcId: n.vpc.AttrVpcId()})
}

// route makes the subnets, and routes the private ones to the NAT gateway of their zone.
func (n *network) route(s customer.Settings) {
	everywhere := jsii.String("0.0.0.0/0")
	internet := awsec2.NewCfnInternetGateway(n.stack, jsii.String("Internet"),
		&awsec2.CfnInternetGatewayProps{Tags: n.named("internet")})
	attached := awsec2.NewCfnVPCGatewayAttachment(n.stack, jsii.String("InternetAttachment"),
		&awsec2.CfnVPCGatewayAttachmentProps{
			VpcId: n.vpc.AttrVpcId(), InternetGatewayId: internet.AttrInternetGatewayId(),
		})
	public := awsec2.NewCfnRouteTable(n.stack, jsii.String("PublicRoutes"),
		&awsec2.CfnRouteTableProps{VpcId: n.vpc.AttrVpcId(), Tags: n.named("public")})
	out := awsec2.NewCfnRoute(n.stack, jsii.String("PublicRoute"), &awsec2.CfnRouteProps{
		RouteTableId: public.AttrRouteTableId(), DestinationCidrBlock: everywhere,
		GatewayId: internet.AttrInternetGatewayId(),
	})
	out.AddDependency(attached)
	var addresses []*string
	for i := range n.zones {
		zone := strconv.Itoa(i + 1)
		outside := n.subnet("PublicSubnet"+zone, n.blocks[4+i], i, public)
		address := awsec2.NewCfnEIP(n.stack, jsii.String("Address"+zone),
			&awsec2.CfnEIPProps{Domain: jsii.String("vpc"), Tags: n.named("egress-" + zone)})
		// Receivers of webhooks have the address in their allow-lists.
		address.ApplyRemovalPolicy(kept(s), nil)
		address.AddDependency(attached)
		table := awsec2.NewCfnRouteTable(n.stack, jsii.String("PrivateRoutes"+zone),
			&awsec2.CfnRouteTableProps{VpcId: n.vpc.AttrVpcId(), Tags: n.named("private-" + zone)})
		if !n.waiting {
			nat := awsec2.NewCfnNatGateway(n.stack, jsii.String("Nat"+zone), &awsec2.CfnNatGatewayProps{
				AllocationId: address.AttrAllocationId(), SubnetId: outside.AttrSubnetId(),
				Tags: n.named("nat-" + zone),
			})
			nat.AddDependency(out)
			awsec2.NewCfnRoute(n.stack, jsii.String("PrivateRoute"+zone), &awsec2.CfnRouteProps{
				RouteTableId: table.AttrRouteTableId(), DestinationCidrBlock: everywhere,
				NatGatewayId: nat.AttrNatGatewayId(),
			})
		}
		n.private = append(n.private, n.subnet("PrivateSubnet"+zone, n.blocks[i], i, table).AttrSubnetId())
		n.tables = append(n.tables, table.AttrRouteTableId())
		addresses = append(addresses, address.AttrPublicIp())
	}
	n.addresses = addresses
	output(n.stack, "EgressAddresses", awscdk.Fn_Join(jsii.String(","), &addresses))
}

func (n *network) subnet(id, block string, zone int, routes awsec2.CfnRouteTable) awsec2.CfnSubnet {
	subnet := awsec2.NewCfnSubnet(n.stack, jsii.String(id), &awsec2.CfnSubnetProps{
		VpcId: n.vpc.AttrVpcId(), CidrBlock: jsii.String(block), MapPublicIpOnLaunch: jsii.Bool(false),
		Tags:             n.named(strings.ToLower(id)),
		AvailabilityZone: awscdk.Fn_Select(jsii.Number(float64(zone)), awscdk.Fn_GetAzs(jsii.String(""))),
	})
	awsec2.NewCfnSubnetRouteTableAssociation(n.stack, jsii.String(id+"Routes"),
		&awsec2.CfnSubnetRouteTableAssociationProps{
			SubnetId: subnet.AttrSubnetId(), RouteTableId: routes.AttrRouteTableId(),
		})
	return subnet
}

// endpoints adds VPC endpoints, which keep calls to AWS within its network. The endpoints of
// S3 and DynamoDB are free. The others cost by the hour, so only services that carry secrets
// or the customer's data have one.
func (n *network) endpoints(s customer.Settings) {
	service := func(name string) *string { return jsii.String("com.amazonaws." + s.Region + "." + name) }
	for _, name := range []string{"dynamodb", "s3"} {
		endpoint := awsec2.NewCfnVPCEndpoint(n.stack, jsii.String(topology.Title(name)+"Endpoint"),
			&awsec2.CfnVPCEndpointProps{
				VpcId: n.vpc.AttrVpcId(), ServiceName: service(name), VpcEndpointType: jsii.String("Gateway"),
				RouteTableIds: &n.tables,
			})
		if name == "dynamodb" { // Providers hand over files in their own S3 buckets.
			endpoint.SetPolicyDocument(n.ownAccount())
		}
	}
	if n.waiting {
		return
	}
	group := n.group("EndpointsGroup", "Endpoints of AWS for "+s.Customer)
	group.SetSecurityGroupIngress([]any{&awsec2.CfnSecurityGroup_IngressProperty{
		IpProtocol: jsii.String("tcp"), FromPort: jsii.Number(443), ToPort: jsii.Number(443),
		SourceSecurityGroupId: n.members.AttrGroupId(),
		Description:           jsii.String("Functions"),
	}})
	names := []string{"kms", "secretsmanager", "sqs", "events", "sts"}
	if slices.Contains(s.Providers, bedrock.Name) {
		names = append(names, "bedrock-runtime")
	}
	for _, name := range names {
		endpoint := awsec2.NewCfnVPCEndpoint(n.stack, jsii.String(topology.Title(name)+"Endpoint"),
			&awsec2.CfnVPCEndpointProps{
				VpcId: n.vpc.AttrVpcId(), ServiceName: service(name), VpcEndpointType: jsii.String("Interface"),
				PrivateDnsEnabled: jsii.Bool(true),
				SubnetIds:         anyOf(n.private), SecurityGroupIds: &[]any{group.AttrGroupId()},
			})
		if name == "kms" || name == "secretsmanager" { // Other queues, buses and roles may belong to the customer.
			endpoint.SetPolicyDocument(n.ownAccount())
		}
	}
	if len(s.PrivateEndpoints) > 0 {
		// Private DNS is off: with it, webhooks could not reach other APIs of the same
		// region.
		n.probe = awsec2.NewCfnVPCEndpoint(n.stack, jsii.String("ProbeEndpoint"), &awsec2.CfnVPCEndpointProps{
			VpcId: n.vpc.AttrVpcId(), ServiceName: service("execute-api"), VpcEndpointType: jsii.String("Interface"),
			PrivateDnsEnabled: jsii.Bool(false),
			SubnetIds:         anyOf(n.private), SecurityGroupIds: &[]any{group.AttrGroupId()},
		}).Ref()
	}
}

func anyOf(all []*string) *[]any {
	out := make([]any, len(all))
	for i, one := range all {
		out[i] = one
	}
	return &out
}

// ownAccount returns the policy of endpoints that only principals of the account may use. It
// prevents data from leaving by them with the credentials of another account.
func (n *network) ownAccount() any {
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
		awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Principals: &[]awsiam.IPrincipal{awsiam.NewAnyPrincipal()}, Actions: jsii.Strings("*"),
			Resources:  jsii.Strings("*"),
			Conditions: &map[string]any{"StringEquals": map[string]any{"aws:PrincipalAccount": n.stack.Account()}},
		}),
	}})
}

// log records the addresses that the functions connect to.
func (n *network) log(s customer.Settings, key awskms.Key) {
	group := newLogGroup(n.stack, s, key, "NetworkLog")
	role := awsiam.NewRole(n.stack, jsii.String("NetworkLogRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("vpc-flow-logs.amazonaws.com"),
			&awsiam.ServicePrincipalOpts{Conditions: &map[string]any{
				"StringEquals": map[string]any{"aws:SourceAccount": n.stack.Account()},
			}}),
		Description: jsii.String("Writes the flow log of the network of " + s.Customer),
	})
	role.AddToPolicy(allow([]string{"logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"},
		group.LogGroupArn()))
	awsec2.NewCfnFlowLog(n.stack, jsii.String("NetworkFlowLog"), &awsec2.CfnFlowLogProps{
		ResourceId: n.vpc.AttrVpcId(), ResourceType: jsii.String("VPC"), TrafficType: jsii.String("ALL"),
		LogDestinationType: jsii.String("cloud-watch-logs"), LogGroupName: group.LogGroupName(),
		DeliverLogsPermissionArn: role.RoleArn(),
	})
}

// interfaceActions are the actions by which Lambda puts a function into a network, with the
// function's role.
var interfaceActions = []string{
	"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
	"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses",
}

// joinPermissions returns the statements that let Lambda, but not the function's own code, put the
// function into the network.
func (l lambdas) joinPermissions(function string) []awsiam.PolicyStatement {
	if l.data.network == nil {
		return nil
	}
	arn := fmt.Sprintf("arn:%s:lambda:%s:%s:function:%s", *l.stack.Partition(), l.data.settings.Region,
		*l.stack.Account(), function)
	actions := jsii.Strings(interfaceActions...)
	return []awsiam.PolicyStatement{
		allow(interfaceActions, jsii.String("*")),
		awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Effect: awsiam.Effect_DENY, Actions: actions, Resources: jsii.Strings("*"),
			Conditions: &map[string]any{"ArnEquals": map[string]any{"lambda:SourceFunctionArn": arn}},
		}),
	}
}

// join puts a function into the network.
func (n *network) join(fn awslambda.Function) {
	fn.Node().DefaultChild().(awslambda.CfnFunction).SetVpcConfig(&awslambda.CfnFunction_VpcConfigProperty{
		SubnetIds: &n.private, SecurityGroupIds: &[]*string{n.members.AttrGroupId()},
	})
}

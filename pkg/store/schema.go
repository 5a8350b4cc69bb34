package store

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Index is a way to list items: the table's own key or a secondary index.
type Index struct {
	name, pk, sk string
	// keysOnly reports that the index holds only keys. A list by it reads the items from the table.
	keysOnly bool
}

// The ways to list items.
var (
	// Table lists the items of one partition by sort key, strongly consistent.
	Table = Index{"", attrPK, attrSK, false}
	// ByOwner lists the items of one owner and kind by id.
	ByOwner = Index{"by_owner", "owner_pk", "owner_sk", false}
	// ByParent lists the items that belong to a resource, such as a factory's content, by id.
	ByParent = Index{"by_parent", "parent_pk", "parent_sk", false}
	// ByDue lists items by the time at which work on them is due. It is sparse: an item without due work is not in it.
	// It holds keys only, because it changes with every step of a task and is read every few minutes. It also lists the
	// events of all accounts by time, so that missing deliveries can be found. The partitions of items that a busy
	// stack writes are shards: one partition takes 1,000 writes a second.
	ByDue = Index{"by_due", "due_pk", "due_sk", true}
)

// Name returns the index's name in DynamoDB, which is empty for Table.
func (x Index) Name() string { return x.name }

// Key returns the names of the attributes that form the index's key. Both are texts.
func (x Index) Key() (partition, sort string) { return x.pk, x.sk }

// KeysOnly reports whether the index holds keys only, not whole items.
func (x Index) KeysOnly() bool { return x.keysOnly }

// The indexes of each table, from which the stacks and the tests make them.
var (
	StateIndexes = []Index{ByOwner, ByParent, ByDue}
	AuditIndexes = []Index{}
)

// ExpiryAttribute is the attribute by which DynamoDB removes expired items.
const ExpiryAttribute = attrTTL

// CreateInput returns the call that creates a table with the given indexes.
func CreateInput(name string, indexes []Index) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest,
		KeySchema: Table.schema()}
	names := []string{Table.pk, Table.sk}
	for _, x := range indexes {
		names = append(names, x.pk, x.sk)
		projection := &types.Projection{ProjectionType: types.ProjectionTypeAll}
		if x.keysOnly {
			projection.ProjectionType = types.ProjectionTypeKeysOnly
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(x.name), KeySchema: x.schema(), Projection: projection})
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
	}
	return in
}

// schema returns the schema of the index's key.
func (x Index) schema() []types.KeySchemaElement {
	return []types.KeySchemaElement{{AttributeName: &x.pk, KeyType: types.KeyTypeHash},
		{AttributeName: &x.sk, KeyType: types.KeyTypeRange}}
}

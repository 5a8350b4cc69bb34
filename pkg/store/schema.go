package store

// Index names a way to list items: the table's own key or a secondary index.
type Index struct {
	name, pk, sk string
	// keysOnly reports that the index holds no more than keys: a list by it reads the
	// items from the table.
	keysOnly bool
}

// The ways to list items.
var (
	// Table lists the items of one partition by sort key, strongly consistent.
	Table = Index{"", attrPK, attrSK, false}
	// ByOwner lists the items of one owner and kind by id.
	ByOwner = Index{"by_owner", "owner_pk", "owner_sk", false}
	// ByParent lists the items that belong to one thing, such as a factory's content,
	// by id.
	ByParent = Index{"by_parent", "parent_pk", "parent_sk", false}
	// ByDue lists what is to be done by the time at which it is due. It is sparse:
	// what needs nothing done is not in it. It holds keys only: it changes with every
	// step of a task and is read every few minutes. It also lists the events of all
	// accounts by time, whose deliveries may be missing. Partitions of what a busy stack
	// writes are shards: one partition takes 1,000 writes a second.
	ByDue = Index{"by_due", "due_pk", "due_sk", true}
)

// Name returns the index's name in DynamoDB; empty for Table.
func (x Index) Name() string { return x.name }

// Key returns the attributes, both of them texts, that the index is keyed by.
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

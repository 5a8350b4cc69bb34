// Package system is the service on one machine: the synthesised template,
// deployed by the CDK CLI onto an emulated AWS whose Lambda runs the functions as
// processes, behind a proxy that makes it look like the deployed API. Several
// systems may run at once; each keeps everything of its own in a folder of its own.
package system

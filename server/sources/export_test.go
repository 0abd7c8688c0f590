package sources

import "github.com/stint-run/stint/schema/coltype"

// ShownManifest is a manifest and its state as clients see them.
func ShownManifest(d ConnectorDetail) (coltype.JSON, string) {
	out := connectorDetailOf(d)
	return out.Manifest, out.ManifestState
}

package org.apache.spark.status.api.v1.pyflow

import jakarta.ws.rs.{Path, PathParam}
import org.apache.spark.status.api.v1.ApiRequestContext

/** Where Spark's REST API has what the tab shows; Spark finds the class in this package. */
@Path("/v1")
private[v1] class ApiPythonRootResource extends ApiRequestContext {

  @Path("applications/{appId}/python")
  def python(@PathParam("appId") appId: String): Class[PythonResource] = classOf[PythonResource]

  @Path("applications/{appId}/{attemptId}/python")
  def python(
      @PathParam("appId") appId: String,
      @PathParam("attemptId") attemptId: String): Class[PythonResource] = classOf[PythonResource]
}

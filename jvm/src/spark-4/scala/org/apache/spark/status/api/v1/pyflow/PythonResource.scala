package org.apache.spark.status.api.v1.pyflow

import jakarta.ws.rs.{GET, Path, PathParam, Produces}
import jakarta.ws.rs.core.MediaType
import org.apache.spark.sql.pyflow.ui._
import org.apache.spark.status.api.v1.{BaseAppResource, NotFoundException}

/** What the tab "Python" shows, as JSON. */
@Produces(Array(MediaType.APPLICATION_JSON))
private[v1] class PythonResource extends BaseAppResource {

  @GET
  @Path("functions")
  def functions(): Seq[PythonFunctionData] = fromStore(_.functions)

  @GET
  @Path("queries")
  def queries(): Seq[PythonQueryData] = fromStore(_.queries)

  @GET
  @Path("queries/{id: \\d+}")
  def query(@PathParam("id") id: Long): PythonQueryData = fromStore { store =>
    store.query(id).getOrElse(throw new NotFoundException(s"no query $id has Python functions"))
  }

  @GET
  @Path("executors")
  def executors(): Seq[PythonExecutorData] = fromStore(_.executors)

  @GET
  @Path("moves")
  def moves(): Seq[PythonMoveData] = fromStore(_.moves)

  private def fromStore[T](read: PythonStore => T): T =
    withUI(ui => read(new PythonStore(ui.store.store)))
}
